import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

it.each([
  [
    'Starlight',
    {
      'astro.config.mjs': "import starlight from '@astrojs/starlight'; export default {}",
      'src/content/docs/index.mdx':
        'import { Tabs, TabItem } from \'@astrojs/starlight/components\';\n\n<Tabs syncKey="os">\n  <TabItem label="Linux" icon="linux">\n    Use **apt**.\n  </TabItem>\n  <TabItem label="macOS">\n    ```sh\n    brew\n    ```\n  </TabItem>\n</Tabs>\n',
    },
    '**Linux**\n\nUse **apt**.\n\n**macOS**\n\n```sh\nbrew\n```',
  ],
  [
    'Antora',
    {
      'antora.yml': 'name: ROOT\nversion: ~\n',
      'modules/ROOT/pages/index.adoc':
        '[tabs]\n======\nLinux::\n+\n--\nUse *apt*.\n--\nmacOS::\n+\n[source,sh]\n----\nbrew\n----\n======\n',
    },
    '- Linux\n\n  Use **apt**.\n\n- macOS\n\n  ```sh\n  brew\n  ```',
  ],
  [
    'Sphinx',
    {
      'conf.py': '',
      'index.rst':
        '.. tab-set::\n\n   .. tab-item:: Linux\n\n      Use **apt**.\n\n   .. tab-item:: macOS\n\n      .. code-block:: sh\n\n         brew\n',
    },
    '**Linux**\n\nUse **apt**.\n\n**macOS**\n\n```sh\nbrew\n```',
  ],
])('keeps the labels and contents of tabs of %s', async (_name, files: Record<string, string>, content) => {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  expect(pages[0]?.content.trim()).toBe(content);
});

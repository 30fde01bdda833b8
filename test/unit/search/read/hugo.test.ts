import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

const site = {
  'hugo.toml':
    "defaultContentLanguage = 'en'\n[languages.en]\ncontentDir = 'content/en'\n[languages.de]\ncontentDir = 'content/de'\n[params]\nversion = 'v1.36'\nlatest = 'v1.37'\n[params.ui]\nname = 'Lamps'\n",
  'i18n/en/en.toml': '[whatsnext_heading]\nother = "What\'s next"\n',
  'i18n/de.toml': '[whatsnext_heading]\nother = "Nächste Schritte"\n',
  'content/en/docs/glossary/big-lamp.md':
    '---\ntitle: Big lamp\n---\n A lamp that {{< glossary_tooltip term_id="shine" >}}s.\n\n<!--more-->\n\nIt is big, like {{< glossary_tooltip term_id="big-lamp" >}}.\n',
  'content/en/docs/glossary/shine.md': '---\ntitle: Shine\n---\nTo give light.\n',
  'content/en/docs/glossary/secret.md': '---\ntitle: Walrus\ngroups: [staff]\n---\nWalrus.\n',
  'content/de/docs/glossary/shine.md': '---\ntitle: Leuchten\n---\nLicht geben.\n',
  'content/en/docs/reference/kubernetes-api/workload/pod-v1.md': '---\ntitle: Pod\n---\n',
  'content/en/examples/a/lamp.yaml': 'kind: Lamp\n',
};

async function contentOf(source: string, language = 'en'): Promise<string> {
  const files = { ...site, [`content/${language}/docs/page.md`]: source };
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return pages.find(({ path }) => path.endsWith('docs/page'))?.content.trim() ?? '';
}

it.each([
  [
    'A {{< glossary_tooltip term_id="big-lamp" >}} or {{<glossary_tooltip text="two lamps" term_id="big-lamp">}}',
    'A Big lamp or two lamps',
  ],
  ['{{< glossary_tooltip term_id="none" >}}, {{< glossary_tooltip term_id="secret" >}}', 'none, secret'],
  ['{{< glossary_definition term_id="big-lamp" length="short" >}}', 'A lamp that Shines.'],
  ['{{< glossary_definition prepend="This is" term_id="shine" length="all" >}}', 'This is to give light.'],
  ['{{% glossary-term "Big Lamp" %}}', 'A lamp that Shines.\n\n\n\nIt is big, like big-lamp.'],
  ['{{< glossary_definition term_id="secret" length="all" >}}', 'secret'],
  [
    'The {{< api-reference page="workload/pod-v1" >}}, {{< api-reference page="x/node-v1" anchor="N" >}}',
    'The Pod, node',
  ],
  ['{{% code_sample file="a/lamp.yaml" %}}', '```yaml\nkind: Lamp\n```'],
  ['## {{% heading "whatsnext" %}}', "## What's next"],
  ['## {{% heading "objectives" %}}', '## Objectives'],
  ['{{< feature-state state="beta" for_k8s_version="v1.11" >}}', '**Feature state: v1.11 [beta]**'],
  ['{{< feature-state feature_gate_name="Glow" >}}', '**Feature state: Glow**'],
  [': {{< new-in 0.5.0 />}} {{<deprecated-in v0.6.0 />}}', ': **New in v0.5.0** **Deprecated in v0.6.0**'],
  [
    'v{{< skew currentVersion >}}, {{< skew currentVersionAddMinor -1 >}}, {{< skew nextMinorVersion >}}',
    'v1.36, 1.35, 1.38',
  ],
  ['{{< param "ui.name" >}} {{< latest-version >}}{{< param none >}}', 'Lamps v1.37'],
  ['{{< figure src="/a.png" alt="A lamp" title="Glowing" >}}', '![A lamp: Glowing](/a.png)'],
  ['{{< details summary="More" >}}Text{{< /details >}}', '**More**\n\nText'],
  ['{{< code-toggle file=hugo >}}\na = 1\n{{< /code-toggle >}}', '```toml\na = 1\n```'],
  ['- B\n\n  {{< highlight go "linenos=table" >}}\n  x := 1\n  {{< /highlight >}}', '- B\n\n  ```go\n  x := 1\n  ```'],
  ['{{< tab header="Linux" lang="sh" >}}\nls\n{{< /tab >}}', '**Linux**\n\n```sh\nls\n```'],
  [
    '{{< code-toggle config=markup />}}\n\nText.\n\n{{< code-toggle >}}\na: 1\n{{< /code-toggle >}}',
    'Text.\n\n```yaml\na: 1\n```',
  ],
])('keeps what the shortcodes of Hugo show: %s', async (source, text) => {
  expect(await contentOf(source)).toBe(text);
});

it('shows terms and headings in the language of the page, else in the main one', async () => {
  const source =
    '## {{% heading "whatsnext" %}}\n\n{{< glossary_tooltip term_id="shine" >}}, {{< glossary_tooltip term_id="big-lamp" >}}';
  expect(await contentOf(source, 'de')).toBe('## Nächste Schritte\n\nLeuchten, Big lamp');
});

import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { checkTypes, packReact } from '../support/browser/packed-react.ts';
import { blocksOf, checkout, documents } from '../support/documentation.ts';

/** Declarations of the names that the pages leave to the reader. */
const ambient = `
declare const Docket: import('${checkout}/dashboard/widget/main.tsx').DocketWidget;
declare const it: import('vitest').TestAPI;
declare const turnstile: { render(container: string, options: { sitekey: string; callback(token: string): void }): string };
declare const adminKey: string, assistantKey: string, text: string, threadId: string;
declare const chat: ReturnType<typeof import('@ai-sdk/react').useChat>;
declare const helpButton: HTMLButtonElement, installButton: HTMLButtonElement;
declare function render(state: import('@docket/react').ChatState): void;
declare function setThreadId(threadId: string | null): void;
`;
const options = [
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
  '--allowImportingTsExtensions',
  '--types',
  'node',
  '--lib',
  'es2024,esnext.collection,dom,dom.iterable',
];
const packages = ['openapi-fetch', 'standardwebhooks', 'vitest'];

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(join(checkout, target), path);
}

it('the code in the documentation has correct types', async () => {
  await using packed = await packReact();
  for (const name of packages) await link(`node_modules/${name}`, join(packed.folder, 'node_modules', name));
  await cp(join(checkout, 'dashboard/vite-env.d.ts'), join(packed.folder, 'styles.d.ts'));
  await writeFile(join(packed.folder, 'ambient.d.ts'), ambient);

  const files: string[] = [];
  for (const { file, line, language, text } of documents.flatMap(blocksOf)) {
    if (!['ts', 'tsx', 'js'].includes(language)) continue;
    const folder = `${file.replaceAll('/', '-')}-${line}`;
    await link('dashboard/http/schema.d.ts', join(packed.folder, folder, 'docket.d.ts'));
    // clients of v1 use AI SDK v4
    if (text.includes('/discovery/v1/assistant/'))
      await link('node_modules/ai-sdk-react-1', join(packed.folder, folder, 'node_modules/@ai-sdk/react'));
    files.push(`${folder}/block.${language}`);
    await writeFile(join(packed.folder, folder, `block.${language}`), `${text}\nexport {};\n`);
  }
  expect(files.length).toBeGreaterThan(10);
  expect(await checkTypes(packed, ['ambient.d.ts', 'styles.d.ts', ...files], options)).toBe('');
});

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const builder = pathToFileURL(resolve('dashboard/widget/build-widget.ts')).href;
const maxBytes = 45_000;

it('is one file, small enough for any page, that evaluates no text', async () => {
  const folder = temporaryDirectory();
  // a process of its own: Vite takes the mode of its build from the environment
  await promisify(execFile)(
    process.execPath,
    ['-e', `import(${JSON.stringify(builder)}).then(({ buildWidget }) => buildWidget(${JSON.stringify(folder)}))`],
    { env: { ...process.env, NODE_ENV: 'production' } },
  );
  expect(await readdir(folder)).toEqual(['widget.js']);
  const script = await readFile(join(folder, 'widget.js'), 'utf8');
  expect(gzipSync(script).length).toBeLessThan(maxBytes);
  expect(script).not.toMatch(/\beval\(|new Function|document\.write|process\.env/);
});

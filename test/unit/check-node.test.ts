import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const checkout = join(import.meta.dirname, '../..');
const file = join(checkout, 'lib/check-node.cjs');

/** Runs the check as a Node of another version would. */
function check(version: string) {
  const code = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('${file}')`;
  return promisify(execFile)(process.execPath, ['-e', code]);
}

it('every script of package.json says in one line that the Node is too old, and becomes the program that it runs', async () => {
  await expect(check('18.19.0')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Docket runs on Node\.js 24 or newer, and this is [^\n]+\n$/),
  });
  await expect(check('24.0.0')).resolves.toMatchObject({ stdout: '', stderr: '' });
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  for (const script of Object.values(scripts))
    expect(script).toMatch(/^node lib\/check-node\.cjs && .*\bexec \S+[^&]*$/);
});

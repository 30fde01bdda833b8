import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';

const checkout = join(import.meta.dirname, '../../..');
const file = join(checkout, 'lib/check-node.cjs');

/** Runs a program under a different Node version. */
function runAs(version: string, ...args: string[]) {
  const pretend = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  return promisify(execFile)(process.execPath, ['--import', pretend, ...args], { cwd: checkout });
}
/** Runs the check as a given Node version in a given folder. */
function check(program: string, { node = '24.16.0', folder = checkout }) {
  const exit = vi.fn();
  const write = vi.fn();
  runInNewContext(program, { process: { versions: { node }, stderr: { write }, exit }, __dirname: `${folder}/lib` });
  return { exitCodes: exit.mock.calls.flat(), said: write.mock.calls.join('') };
}
const refusal = {
  code: 1,
  stderr: expect.stringMatching(/^Docket runs on Node\.js 24\.16 or newer, and this is [^\n]+\n$/),
};

it('every script of package.json reports in one line that Node is too old, and otherwise becomes its program', async () => {
  await expect(runAs('24.9.0', file)).rejects.toMatchObject(refusal);
  await expect(runAs('24.16.0', file)).resolves.toMatchObject({ stdout: '', stderr: '' });
  const program = readFileSync(file, 'utf8');
  const exitCodes = ['18.19.0', '22.20.0', '24.15.9', '24.16.1', '25.0.0'].map(
    (node) => check(program, { node }).exitCodes,
  );
  expect(exitCodes).toEqual([[1], [1], [1], [], []]);
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  for (const script of Object.values(scripts))
    expect(script).toMatch(/^node lib\/check-node\.cjs && .*\bexec \S+[^&]*$/);
});

it('every script refuses a folder whose path bundlers or the PATH would split', () => {
  const program = readFileSync(file, 'utf8');
  for (const character of '#?!*$:\\')
    expect(check(program, { node: '18.19.0', folder: `/a${character}b` }).said, character).toMatch(
      /^Docket cannot run in \/a.b, because its path contains (.)\. Move it to a folder whose path has none of [^\n]+\n/,
    );
  expect(check(program, { folder: `/home/it's 100% (é) "b" [x] {y} &;@+=,~` })).toEqual({ exitCodes: [], said: '' });
});

it('vitest reports it, too, when it is called directly', async () => {
  await expect(runAs('20.20.2', 'node_modules/vitest/vitest.mjs', 'run', file)).rejects.toMatchObject(refusal);
});

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryDirectory();
  writeFileSync(join(folder, 'file'), '');
});

/** Runs a program that caches its code in the first writable folder. Returns the cache settings that its child processes inherit. */
function run(folders: string[], env: Record<string, string> = {}) {
  const program = join(folder, 'program.mjs');
  writeFileSync(join(folder, 'code.mjs'), `export const answer = ${'1 + '.repeat(50)}1;`);
  writeFileSync(
    program,
    `import { keepCompiledCode } from ${JSON.stringify(import.meta.resolve('../../../lib/compile-cache.ts'))};
    keepCompiledCode(process.env, ${JSON.stringify(folders)});
    const { answer } = await import('./code.mjs');
    console.log(JSON.stringify({ answer, told: process.env['NODE_COMPILE_CACHE'] ?? null }));`,
  );
  const environment = { PATH: process.env['PATH'], HOME: folder, ...env };
  const { stdout, stderr } = spawnSync(process.execPath, [program], { env: environment, encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as { answer: number; told: string | null };
}

describe('keepCompiledCode', () => {
  it('keeps compiled code in the first folder, and tells child processes about it', () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    expect(run([first, second])).toEqual({ answer: 51, told: first });
    expect(readdirSync(first)).not.toEqual([]);
    expect(existsSync(second)).toBe(false);
  });

  it('uses the next folder if one cannot be created', () => {
    const second = join(folder, 'second');
    expect(run([join(folder, 'file/first'), second])).toEqual({ answer: 51, told: second });
    expect(readdirSync(second)).not.toEqual([]);
  });

  it('uses no folder that others can write to, or that is inside one', () => {
    const [shared, third] = [join(folder, 'shared'), join(folder, 'third')];
    for (const path of [shared, join(folder, 'open')]) {
      mkdirSync(path);
      chmodSync(path, 0o777);
    }
    const folders = [join(folder, 'open'), join(shared, 'first'), third];
    expect(run(folders)).toEqual({ answer: 51, told: third });
    expect([readdirSync(join(folder, 'open')), readdirSync(shared)]).toEqual([[], []]);
  });

  it('runs without a cache if there is none', () => {
    expect(run([join(folder, 'file/first')])).toEqual({ answer: 51, told: null });
  });

  it('respects a configured folder, and a disabled cache', () => {
    const [first, named] = [join(folder, 'first'), join(folder, 'named')];
    expect(run([first], { NODE_COMPILE_CACHE: named })).toEqual({ answer: 51, told: named });
    expect(run([first], { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual({ answer: 51, told: null });
    expect(existsSync(first)).toBe(false);
  });
});

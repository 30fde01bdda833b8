import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const checkout = resolve(import.meta.dirname, '../../..');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(resolve(checkout, 'package.json'), 'utf8')));
const programs = Object.entries(scripts).flatMap(([name, script]) => {
  const program = /&& exec node (?:--\S+ )*(\S+\.ts)(.*)$/.exec(script);
  return program === null ? [] : [{ name, args: [program[1]!, ...program[2]!.trim().split(' ').filter(Boolean)] }];
});
/** Those that pass options to vitest. */
const passesOn = new Set(['test', 'test:all', 'check']);
const limit = { timeout: 300_000, tags: ['slow'] };

function run(args: string[]): Promise<{ code: number; out: string; error: string }> {
  // without a database, a key or a port, so that a program that starts its work fails
  const env = { PATH: process.env['PATH'], DOCKET_HOME: '/dev/null/none' };
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: checkout, env }, (failure, out, error) => {
      done({ code: failure === null ? 0 : Number(failure.code ?? -1), out, error });
    });
  });
}

describe('scripts of package.json', () => {
  it('include the programs of this folder', () => {
    expect(programs.map(({ name }) => name)).toEqual(expect.arrayContaining(['start', 'chaos', 'db:migrate', 'build']));
  });

  it.each(programs)('$name explains itself', limit, async ({ args }) => {
    const { code, out, error } = await run([...args, '--help']);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/^Usage: /);
  });

  it.each(programs.filter(({ name }) => !passesOn.has(name)))(
    '$name refuses a mistyped option',
    limit,
    async ({ args }) => {
      const { code, out, error } = await run([...args, '--no-such-option']);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(error).toMatch(/--no-such-option/);
      expect(error).not.toMatch(/^\s+at /m);
    },
  );
});

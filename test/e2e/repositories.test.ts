import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { createTestRepository } from '../support/git-repository.ts';
import { accountsWithSandbox } from '../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = resolve(import.meta.dirname, '../suites/repositories/main.ts');
const { accounts } = await accountsWithSandbox();

async function runSuite(folder: string): Promise<{ code: number; out: string }> {
  await using repository = await createTestRepository({ 'README.md': '# Lamp\n' }, { path: join(folder, 'lamp.git') });
  await repository.commit({ 'more.md': 'More.\n' });
  const commit = await repository.git('rev-parse', 'main');
  // each is killed after half the time that it took before, which a busy machine may double
  const setup = 'sleep 6\necho installed > ~/installed';
  const environment = { setup, check: 'sleep 6; test -f ~/installed', hosts: { setup: [] } };
  const list = join(folder, 'list.yaml');
  await writeFile(list, JSON.stringify([{ repository: 'acme/lamp', commit, language: 'None', environment }]));
  const args = [program, '--list', list, '--source', `file://${folder}/{name}.git`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code: code as number, out };
}

it.runIf(accounts.length > 0)(
  'the environments of repositories survive a killed worker',
  { tags: ['slow'] },
  async () => {
    const folder = temporaryDirectory();
    const ran = await runSuite(folder);
    expect(ran.out).toContain('problems: 0 in 4 jobs');
    expect(ran.out).toContain('2 commits');
    expect(ran.out).toMatch(/ first +\S+ s +\S+ s +\S+ s +1 +http/);
    expect(ran.out).toMatch(/ second +\S+ s +\S+ s \(skipped\) +\S+ s +0 +http/);
    expect(ran.out).toMatch(/ worker killed in setup +\S+ s +\S+ s +\S+ s +2 +http/);
    expect(ran.out).toMatch(/ worker killed in tests +\S+ s +\S+ s \(skipped\) +\S+ s +0 +http/);
    expect(ran.code).toBe(0);
  },
);

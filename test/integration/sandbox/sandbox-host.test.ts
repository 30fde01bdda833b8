import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandboxHost, type HostedSandbox } from '../../../activities/sandbox/sandbox-host.ts';
import { accountsWithSandbox, processesNamed, testLimits } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { testEngine } from '../../support/sandbox/engine.ts';

const { accounts } = await accountsWithSandbox();
const hostProgram = 'sandbox/sandbox-host-main.ts';

describe.runIf(accounts.length > 0)('the process that runs commands', () => {
  let directory: string;
  let tree: string;
  let hosted: HostedSandbox;
  beforeAll(async () => {
    process.env['DOCKET_CANARY'] = 'canary-environment';
    directory = temporaryDirectory();
    tree = join(directory, 'tree');
    await mkdir(tree);
    const network = { hosts: ['reached.invalid'], privateHosts: [] };
    hosted = await openSandboxHost({
      directory: join(directory, 'sandbox'),
      engine: testEngine,
      limits: testLimits,
      network,
      authorities: null,
    });
  });
  afterAll(async () => {
    delete process.env['DOCKET_CANARY'];
    await hosted[Symbol.asyncDispose]();
  });

  // longer than the tests wait for an end: podman would end a container after its time
  const run = (command: string, { signal = new AbortController().signal, timeoutMs = 600_000 } = {}) => {
    if (hosted.sandbox === null) throw new Error(hosted.problem);
    return hosted.sandbox.run({ jobId: 'job_test', tree, command, timeoutMs, signal });
  };
  /** A command that leaves a file when it begins: what starts it has its text among the arguments, too. */
  const sleeping = (mark: string) => `touch ${mark}; exec -a ${mark} sleep 600`;
  /** The host processes that this process started. */
  const hosts = async () => {
    const found = [];
    for (const pid of await processesNamed(hostProgram)) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      if (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(process.pid)) found.push(pid);
    }
    return found;
  };

  it('returns how a command ended, its output and what it failed to reach', async () => {
    const end = await run('echo one; echo two >&2; curl -s https://evil.invalid/; exit 7');
    expect(end).toMatchObject({ exitCode: 7, stopped: null });
    expect(end.output.head.toString()).toBe('one\ntwo\n');
    expect(end.notes.join()).toContain('evil.invalid:443');
    expect(await run('while :; do :; done', { timeoutMs: 1_000 })).toMatchObject({
      stopped: 'timeout',
      exitCode: null,
    });
  });

  it('knows nothing of the worker’s environment', async () => {
    const [host] = await hosts();
    expect(await readFile(`/proc/${process.pid}/environ`, 'utf8')).not.toBe('');
    const environment = await readFile(`/proc/${host}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('canary-environment');
  });

  it('ends a command whose call is aborted', async () => {
    const mark = `aborted-${randomUUID()}`;
    const controller = new AbortController();
    const said = run(sleeping(mark), { signal: controller.signal }).catch(String);
    await expect.poll(() => existsSync(join(tree, mark))).toBe(true);
    expect(await processesNamed(mark)).not.toEqual([]);
    controller.abort(new Error('aborted by the test'));
    expect(await said).toContain('aborted by the test');
    expect(await processesNamed(mark)).toEqual([]);
  });

  it('takes its commands down when it is killed, and the next call starts a new one', { tags: ['slow'] }, async () => {
    const mark = `orphan-${randomUUID()}`;
    const said = run(sleeping(mark)).catch(String);
    await expect.poll(() => existsSync(join(tree, mark))).toBe(true);
    expect(await processesNamed(mark)).not.toEqual([]);
    const [host] = await hosts();
    process.kill(host!, 'SIGKILL');
    expect(await said).toContain('The process that runs commands has exited.');
    await expect.poll(() => processesNamed(mark)).toEqual([]);
    expect((await run('echo again')).output.head.toString()).toBe('again\n');
    expect(await hosts()).not.toContain(host);
  });

  it('ends with the worker, and so do its commands', async () => {
    const mark = `left-${randomUUID()}`;
    const said = run(sleeping(mark)).catch(String);
    await expect.poll(() => existsSync(join(tree, mark))).toBe(true);
    expect(await processesNamed(mark)).not.toEqual([]);
    const [host] = await hosts();
    await hosted[Symbol.asyncDispose]();
    expect(existsSync(`/proc/${host}`)).toBe(false);
    expect(await said).toContain('has exited');
    await expect.poll(() => processesNamed(mark)).toEqual([]);
    await expect(run('true')).rejects.toThrow('exited');
  });
});

it('reports why there is no sandbox', async () => {
  const hosted = await openSandboxHost({
    directory: '/dev/null/none',
    engine: testEngine,
    limits: testLimits,
    network: null,
    authorities: null,
  });
  expect(hosted.problem).toContain('Commands cannot run here: ');
});

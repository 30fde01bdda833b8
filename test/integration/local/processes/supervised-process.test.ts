import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { endProcess, identityOf } from '../../../../local/processes/process-identity.ts';
import { openProcessRecord } from '../../../../local/processes/process-record.ts';
import { superviseProcess } from '../../../../local/processes/supervised-process.ts';
import type { ProcessSpec, SupervisorHooks } from '../../../../local/processes/supervised-process.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000 });

const waitForIt = { timeout: 60_000, interval: 10 };

function nodeSpec(code: string, overrides: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    name: 'Echo',
    command: process.execPath,
    args: ['-e', code],
    env: { PATH: process.env['PATH'] },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
    startTimeoutMs: 30_000,
    untilReady: ({ untilLine }) => untilLine((line) => line === 'ready'),
    ...overrides,
  };
}

/** Hooks that record their calls. */
function record(overrides: Partial<SupervisorHooks> = {}) {
  const lines: string[] = [];
  const pids: (number | null)[] = [];
  const hooks: SupervisorHooks = {
    log: (line) => lines.push(line),
    onPid: (pid) => void pids.push(pid),
    backOffMs: 5,
    ...overrides,
  };
  return { lines, pids, hooks };
}

const staying = 'console.log("ready"); setInterval(() => {}, 1000)';

describe('a supervised process', () => {
  it('restarts when it dies, with the reason in the log, and ends when it is disposed of', async () => {
    const { lines, pids, hooks } = record();
    const supervised = await superviseProcess(nodeSpec(staying), hooks);
    const first = supervised.pid!;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(lines).toContain('Echo runs again'), waitForIt);
    expect(lines[0]).toBe('Echo ended (signal SIGKILL); restarting in 0.005 s');
    const second = supervised.pid!;
    expect(second).not.toBe(first);
    await supervised[Symbol.asyncDispose]();
    expect(await identityOf(second)).toBeNull();
    expect(supervised.pid).toBeNull();
    expect(pids.filter((pid) => pid !== null)).toEqual([first, second]);
    expect(pids.at(-1)).toBeNull();
  });

  it('restarts at once when it dies after a steady time', async () => {
    const { lines, hooks } = record({ backOffMs: 600_000, maxBackOffMs: 600_000, steadyMs: 50 });
    await using supervised = await superviseProcess(nodeSpec(staying), hooks);
    for (const restarts of [1, 2]) {
      await delay(60);
      process.kill(supervised.pid!, 'SIGKILL');
      await vi.waitFor(
        () => expect(lines.filter((line) => line === 'Echo runs again')).toHaveLength(restarts),
        waitForIt,
      );
    }
    expect(lines[0]).toBe('Echo ended (signal SIGKILL); restarting in 0 s');
  });

  it('waits longer before each restart if it keeps failing', async () => {
    const folder = temporaryDirectory();
    const broken = join(folder, 'broken');
    const code = `if (require('fs').existsSync(${JSON.stringify(broken)})) process.exit(7); ${staying}`;
    const { lines, hooks } = record();
    await using supervised = await superviseProcess(nodeSpec(code), hooks);
    await writeFile(broken, '');
    process.kill(supervised.pid!, 'SIGKILL');
    const failures = () => lines.filter((line) => line.includes('(exit code 7) before it was ready'));
    await vi.waitFor(() => expect(failures().length).toBeGreaterThanOrEqual(3), waitForIt);
    const waits = failures().map((line) => Number(/retrying in ([\d.]+) s/.exec(line)?.[1]));
    expect(waits.slice(0, 3)).toEqual([0.01, 0.02, 0.04]);
    await rm(broken);
    await vi.waitFor(() => expect(lines).toContain('Echo runs again'), waitForIt);
  });

  it('restarts at once and silently on request', async () => {
    const { lines, hooks } = record({ backOffMs: 60_000 });
    await using supervised = await superviseProcess(nodeSpec(staying), hooks);
    const before = supervised.pid;
    await supervised.restart();
    await vi.waitFor(() => expect(lines).toEqual(['Echo runs again']), waitForIt);
    expect(supervised.pid).not.toBe(before);
  });

  it('reports its last output if it does not start within its attempts', async () => {
    const { pids, hooks } = record({ attempts: 2 });
    const starting = superviseProcess(nodeSpec('console.error("the disk is full"); process.exit(3)'), hooks);
    await expect(starting).rejects.toThrow(/Echo ended \(exit code 3\) before it was ready\n {2}the disk is full/);
    expect(pids.filter((pid) => pid !== null)).toHaveLength(2);
  });

  it('fails and is ended if it is not ready in time, or the start is interrupted', async () => {
    const late = record();
    await expect(
      superviseProcess(nodeSpec('setInterval(() => {}, 1000)', { startTimeoutMs: 50 }), late.hooks),
    ).rejects.toThrow(/was not ready within 0.05 s/);
    expect(await identityOf(late.pids[0]!)).toBeNull();

    const interruption = new AbortController();
    const interrupted = record({ signal: interruption.signal, attempts: 5 });
    const starting = superviseProcess(nodeSpec('setInterval(() => {}, 1000)'), interrupted.hooks);
    await vi.waitFor(() => expect(interrupted.pids).toHaveLength(1), waitForIt);
    interruption.abort(new Error('interrupted'));
    await expect(starting).rejects.toThrow('interrupted');
    expect(await identityOf(interrupted.pids[0]!)).toBeNull();
  });

  it('is killed with its children if it does not stop in time', async () => {
    const code = `
      const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      process.on('SIGTERM', () => {});
      console.log(child.pid); console.log('ready'); setInterval(() => {}, 1000)`;
    const lines: string[] = [];
    const { hooks } = record({ onLine: (line) => lines.push(line) });
    const supervised = await superviseProcess(nodeSpec(code, { stopTimeoutMs: 20 }), hooks);
    const grandchild = Number(lines[0]);
    await supervised[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect(await identityOf(grandchild)).toBeNull(), waitForIt);
  });

  it('cannot start if its program does not exist', async () => {
    await expect(superviseProcess(nodeSpec('', { command: '/nowhere/program' }), record().hooks)).rejects.toThrow(
      /ENOENT/,
    );
  });
});

describe('a process record', () => {
  it('ends its processes, but not another one that now has the same id', async () => {
    const folder = temporaryDirectory();
    const file = join(folder, 'processes.json');
    const children = [1, 2].map(() =>
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }),
    );
    const [own, foreign] = children.map((child) => child.pid!);
    onTestFinished(() => children.forEach((child) => child.kill('SIGKILL')));

    const first = await openProcessRecord(file);
    await first.note('worker', own!);
    await first.note('api', foreign!);
    const content = JSON.parse(await readFile(file, 'utf8'));
    content.api.identity = 'another boot:1';
    await writeFile(file, JSON.stringify(content));

    const second = await openProcessRecord(file);
    expect(second.pidOf('worker')).toBe(own);
    expect(await second.endLeftovers()).toEqual(['worker']);
    expect(await identityOf(own!)).toBeNull();
    expect(await identityOf(foreign!)).not.toBeNull();
    expect((await openProcessRecord(file)).pidOf('api')).toBeNull();
  });

  it('starts empty if the file is damaged', async () => {
    const folder = temporaryDirectory();
    await writeFile(join(folder, 'processes.json'), '{"api": {"pid"');
    expect(await (await openProcessRecord(join(folder, 'processes.json'))).endLeftovers()).toEqual([]);
  });
});

it('treats a zombie process as gone', async () => {
  // the parent never waits for its child, which remains a zombie
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout, 'data');
  const zombie = Number(String(line));
  await vi.waitFor(async () => expect(await identityOf(zombie)).toBeNull(), waitForIt);
  await endProcess(zombie, { signal: 'SIGTERM', timeoutMs: 1 });
});

it('lets a child end when its supervisor is killed, but not what that child starts itself', async () => {
  const folder = temporaryDirectory();
  const follow = pathToFileURL(resolve(import.meta.dirname, '../../../../local/processes/exit-with-parent.ts')).href;
  await writeFile(
    join(folder, 'supervisor.mjs'),
    `import { spawn } from 'node:child_process';
    const env = { ...process.env, DOCKET_SUPERVISOR_PID: String(process.pid) };
    spawn(process.execPath, ['--import', ${JSON.stringify(follow)}, 'child.mjs'], { stdio: 'inherit', env });
    setInterval(() => {}, 1000);`,
  );
  await writeFile(
    join(folder, 'child.mjs'),
    `import { fork } from 'node:child_process';
    process.on('SIGTERM', () => { console.log('asked to end'); process.exit(); });
    fork('grandchild.mjs').on('exit', (code) => console.log('grandchild ended with', code));
    setInterval(() => {}, 1000);`,
  );
  await writeFile(join(folder, 'grandchild.mjs'), 'setTimeout(() => process.disconnect(), 700);');
  const supervisor = spawn(process.execPath, ['supervisor.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void supervisor.kill('SIGKILL'));
  let output = '';
  supervisor.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  await vi.waitFor(() => expect(output).toBe('grandchild ended with 0\n'), waitForIt);
  supervisor.kill('SIGKILL');
  await vi.waitFor(() => expect(output).toContain('asked to end'), waitForIt);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';

const main = join(import.meta.dirname, '../../../worker/main.ts');

/** The worker process; what it prints can be awaited. */
async function startWorkerProcess(env: NodeJS.ProcessEnv) {
  const directory = await mkdtemp(join(tmpdir(), 'docket-worker-'));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], DOCKET_WORK_DIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close').then(([code]) => code as number | null);
  let output = '';
  let onOutput = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput();
    });
  }
  return {
    child,
    closed,
    output: () => output,
    async said(text: string, times = 1): Promise<void> {
      const seen = new Promise<void>((resolve) => {
        onOutput = () => {
          if (output.split(text).length > times) resolve();
        };
        onOutput();
      });
      const ended = closed.then((code) => Promise.reject(new Error(`The worker ended with ${code}:\n${output}`)));
      await Promise.race([seen, ended]);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A way to the engine that can be shut and opened. */
async function startGate(target: string) {
  const [host, port] = target.split(':');
  const sockets = new Set<Socket>();
  const server = createServer((inside) => {
    const outside = connect(Number(port), host);
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => void (sockets.delete(from), to.destroy()));
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    address: `127.0.0.1:${own}`,
    close,
    async open() {
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await close();
    },
  };
}

describe('the worker process', () => {
  it('says which variables are wrong in one line and ends with 1', async () => {
    await using worker = await startWorkerProcess({ LOG_LEVEL: 'loud' });
    expect(await worker.closed).toBe(1);
    expect(worker.output().trim().split('\n')).toHaveLength(1);
    expect(worker.output()).toContain('DATABASE_URL is missing');
    expect(worker.output()).toContain('LOG_LEVEL must be one of');
  });

  it('waits for an engine that is not there yet, and ends in order at SIGTERM', { timeout: 120_000 }, async () => {
    await using database = await createTestDatabase();
    await using gate = await startGate(inject('temporalAddress'));
    await gate.close();
    await using worker = await startWorkerProcess({ DATABASE_URL: database.url, TEMPORAL_ADDRESS: gate.address });
    await worker.said('not connected to Temporal; trying again');
    await gate.open();
    await worker.said('"msg":"worker ready"');
    worker.child.kill('SIGTERM');
    expect(await worker.closed).toBe(0);
    expect(worker.output()).toContain('"msg":"worker stopped"');
  });

  it('ends at SIGTERM also while there is no engine', { timeout: 120_000 }, async () => {
    const env = { DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    await using worker = await startWorkerProcess(env);
    await worker.said('not connected to Temporal; trying again', 2);
    worker.child.kill('SIGTERM');
    expect(await worker.closed).toBe(0);
  });
});

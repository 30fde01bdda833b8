import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../../../local/processes/ports.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { startWorkerProcess } from '../../../support/stack/worker-process.ts';

/** A connection to Temporal that can be cut and restored. */
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
  // a port of its own while it is closed, too
  const own = await findFreePort();
  server.listen(own, '127.0.0.1');
  await once(server, 'listening');
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

/** The threads of a process that look up names, read files and compress. */
async function poolThreads(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const names = await Promise.all(
    threads.map((id) => readFile(`/proc/${pid}/task/${id}/comm`, 'utf8').catch(() => '')),
  );
  return names.filter((name) => name.startsWith('libuv-worker')).length;
}

function portOf(output: string): number {
  return Number(/"port":(\d+),"msg":"health answers"/.exec(output)![1]);
}

describe('the worker process', () => {
  it('reports invalid variables in one line and exits with 1', async () => {
    await using worker = await startWorkerProcess({ LOG_LEVEL: 'loud' });
    expect(await worker.closed).toBe(1);
    expect(worker.output().trim().split('\n')).toHaveLength(1);
    expect(worker.output()).toContain('DATABASE_URL is missing');
    expect(worker.output()).toContain('LOG_LEVEL must be one of');
  });

  it('exits with 1 when it fails before it has polled', async () => {
    await using taken = createServer().listen(0);
    await once(taken, 'listening');
    await using worker = await startWorkerProcess({
      DATABASE_URL: inject('databaseUrl'),
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      DOCKET_WORKER_HEALTH_PORT: String((taken.address() as AddressInfo).port),
    });
    expect(await worker.closed).toBe(1);
    expect(worker.output()).toContain('EADDRINUSE');
  });

  it('waits for Temporal to start, and ends cleanly on SIGTERM', { tags: 'slow' }, async () => {
    await using database = await createTestDatabase();
    await using gate = await startGate(inject('temporalAddress'));
    await gate.close();
    await using worker = await startWorkerProcess({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: gate.address,
      DOCKET_WORKER_HEALTH_PORT: '0',
    });
    await worker.said('not connected to Temporal; retrying');
    const health = async (path: string) => (await fetch(`http://127.0.0.1:${portOf(worker.output())}${path}`)).status;
    expect([await health('/healthz'), await health('/readyz')]).toEqual([200, 503]);
    await gate.open();
    await worker.said('"msg":"worker ready"');
    expect([await health('/healthz'), await health('/readyz'), await health('/')]).toEqual([200, 200, 404]);
    const pids = async () => (await database.pool.query('select pid from workers')).rows.map(({ pid }) => pid);
    await expect.poll(pids).toEqual([worker.child.pid]);
    // more than an organization can occupy with names whose servers do not answer
    expect(await poolThreads(worker.child.pid!)).toBe(128);
    worker.child.kill('SIGTERM');
    expect(await worker.closed).toBe(0);
    expect(worker.output()).toContain('"msg":"worker stopped"');
    expect(await pids()).toEqual([]);
  });

  it('also ends on SIGTERM while Temporal is down', { tags: 'slow' }, async () => {
    const env = { DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    await using worker = await startWorkerProcess(env);
    await worker.said('not connected to Temporal; retrying', 2);
    worker.child.kill('SIGTERM');
    expect(await worker.closed).toBe(0);
  });
});

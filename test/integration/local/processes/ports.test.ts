import { execFile as execFileWithCallback } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { checkPort, findFreePort, isPortFree } from '../../../../local/processes/ports.ts';

const execFile = promisify(execFileWithCallback);
const ports = import.meta.resolve('../../../../local/processes/ports.ts');

it('uses the preferred port if it is free, and another one otherwise', async () => {
  const free = await findFreePort();
  expect(await findFreePort(free)).toBe(free);

  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await isPortFree(port)).toBe(false);
  expect(await findFreePort(port)).not.toBe(port);
  server.close();
});

it('never gives two processes the same port, even before one of them listens', async () => {
  const port = await findFreePort();
  const { stdout } = await execFile(process.execPath, [
    '--input-type=module',
    '--eval',
    `const { findFreePort, isPortFree } = await import(${JSON.stringify(ports)});
     console.log(await isPortFree(${port}), await findFreePort(${port}));`,
  ]);
  const [isFree, other] = stdout.trim().split(' ');
  expect(isFree).toBe('true');
  expect(Number(other)).toBeGreaterThan(0);
  expect(Number(other)).not.toBe(port);
});

it('says in one sentence why the API cannot listen', async () => {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(checkPort(port, '127.0.0.1')).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
  for (const [host, code] of [
    ['192.0.2.1', 'EADDRNOTAVAIL'],
    ['no such host', 'ENOTFOUND'],
  ] as const)
    await expect(checkPort(18_000, host)).rejects.toThrow(
      `The API cannot listen on ${host} (${code}); set HOST to an address of this machine, such as 127.0.0.1.`,
    );
});

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { findFreePort, isPortFree } from '../../../../local/processes/ports.ts';

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

it('reports a host that is not an address of this machine', async () => {
  await expect(isPortFree(18_000, '192.0.2.1')).rejects.toThrow(/EADDRNOTAVAIL/);
});

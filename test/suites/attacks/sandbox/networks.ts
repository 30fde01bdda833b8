import { createEgress } from '../../../../lib/network/egress.ts';
import type { Resolve } from '../../../../lib/network/public-lookup.ts';
import type { Attack } from '../stage/attack.ts';
import { inOnlineSandbox, sandboxProblem } from '../stage/in-sandbox.ts';
import type { Scene } from '../stage/scene.ts';
import { asWorker } from './commands.ts';

interface WayOut {
  name: string;
  /** `host` stands for a listed name. */
  command(host: string, port: number): string;
  /** The address of the listed name; nowhere by default. */
  addresses?: string[];
  contained: string;
}

const listed = 'listed.test';
const curl = 'curl -s --max-time 10';
/** Without the proxy, the DNS decides where a connection goes. */
const named = (host: string, port: number, address: string) =>
  `${curl} http://${host}:${port}/ --resolve '${host}:${port}:${address}'`;
const byList = 'the proxy of the sandbox connects to the hosts of its list only';
const byAddress = 'every address of a name is checked before one is connected to';

const ways: WayOut[] = [
  { name: 'an address of this machine', command: (_, port) => `${curl} http://127.0.0.1:${port}/`, contained: byList },
  {
    name: 'an address of this machine in another spelling',
    command: (_, port) => `${curl} http://2130706433:${port}/`,
    contained: byList,
  },
  {
    name: 'an address of this machine by a tunnel',
    command: (_, port) => `${curl} --proxytunnel http://127.0.0.1:${port}/`,
    contained: byList,
  },
  {
    name: 'an address behind the name of a listed host',
    command: (host, port) => `${curl} --path-as-is 'http://${host}@127.0.0.1:${port}/'`,
    contained: byList,
  },
  {
    name: 'a host that the header names and not the address',
    command: (host, port) => `${curl} -H 'Host: ${host}' http://127.0.0.1:${port}/`,
    contained: byList,
  },
  {
    name: 'no proxy asked at all',
    command: (_, port) => `${curl} --noproxy '*' http://127.0.0.1:${port}/`,
    contained: 'a network of its own, whose one listening socket is the proxy’s',
  },
  {
    name: 'a listed name that leads to this machine',
    command: (host, port) => named(host, port, '127.0.0.1'),
    addresses: ['127.0.0.1'],
    contained: byAddress,
  },
  {
    name: 'a listed name that leads to this machine, too',
    command: (host, port) => named(host, port, '127.0.0.1'),
    addresses: ['93.184.216.34', '127.0.0.1'],
    contained: byAddress,
  },
  {
    name: 'a listed name that leads to an address of IPv6 for this machine, by a tunnel',
    command: (host, port) => `${named(host, port, '[::ffff:127.0.0.1]')} --proxytunnel`,
    addresses: ['::ffff:127.0.0.1'],
    contained: byAddress,
  },
];

function resolveTo(addresses: string[]): Resolve {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_name, done) => done(addresses.length === 0 ? new Error('no such name') : null, found);
}

/** A worker without a sandbox: the name is not resolved, the address is given. */
async function bites(scene: Scene, { command }: WayOut): Promise<boolean> {
  const { port, hits } = await scene.server();
  await asWorker(scene, command(listed, port));
  return hits.length > 0;
}

export const networkAttacks: Attack[] = ways.map((way) => ({
  class: 22,
  name: `through the network of commands: ${way.name}`,
  unprotected: (scene) => bites(scene, way),
  async product(scene) {
    const { port, hits } = await scene.server();
    const egress = createEgress({ resolve: resolveTo(way.addresses ?? []) });
    const { text } = await inOnlineSandbox(scene, way.command(listed, port), {
      hosts: [listed, `${listed}:${port}`],
      egress,
    });
    return hits.length > 0 || text.includes(scene.canary);
  },
  contained: way.contained,
  needs: sandboxProblem,
}));

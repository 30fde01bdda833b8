import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { localTablePreference } from './servers/own-network.ts';

const execute = promisify(execFile);

/** `there`: what the far end sends is lost; `back`: the responses to it. */
export type Direction = 'there' | 'back' | 'both';

/** A network namespace, and its only cable: to the loopback addresses of this one. */
export interface Wire extends AsyncDisposable {
  /** Prefixes a command, which then runs at the far end. */
  enter: readonly string[];
  /** Every packet is lost silently. */
  unplug(): Promise<void>;
  /** Packets of connections to one port are lost. */
  lose(port: number, direction: Direction): Promise<void>;
  /** Packets are delayed, and lost when they come too fast. */
  throttle(): Promise<void>;
  /** Ends the connections to a port, on both sides at once. */
  reset(port: number): Promise<void>;
  /** Packets of the existing connections to a port are lost permanently, as when a router forgets them; new ones work. */
  forget(port: number): Promise<void>;
  /** Ends every fault but the forgotten connections. */
  heal(): Promise<void>;
}

/** Local ports of one generation of connections: `forget` starts the next one. */
const portsOfGeneration = 1_000;
const firstPort = 2_000;
const lastPort = 65_000;

/** About two small requests per second each way; a full queue drops packets. */
const slow = 'root tbf rate 128kbit burst 4kb limit 12kb';

/** Creates a wire; `index`, from 0, distinguishes those of a run. Needs its own network, see own-network.ts. */
export async function layWire(index: number): Promise<Wire> {
  const near = `docket${index}`;
  const far = 'docket';
  const [nearAddress, farAddress] = [`10.77.${index}.1`, `10.77.${index}.2`];
  // it ends, and its namespace with it, when this process does
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'exit');
  await Promise.race([once(holder.stdout, 'data'), ended]);
  const enter = ['nsenter', '--target', String(holder.pid), '--net'];
  const here = (...commands: string[]) => execute('sh', ['-ec', commands.join('\n')]);
  const there = (...commands: string[]) => execute(enter[0]!, [...enter.slice(1), 'sh', '-ec', commands.join('\n')]);
  const [cut, forgotten] = [100 + index, 200 + index];
  let newest = firstPort;

  const setLocalPorts = () =>
    there(`echo ${newest} ${newest + portsOfGeneration - 1} > /proc/sys/net/ipv4/ip_local_port_range`);

  await here(
    `ip link add ${near} type veth peer name ${far} netns ${holder.pid}`,
    `ip addr add ${nearAddress}/30 dev ${near}`,
    `ip link set ${near} up`,
    `echo 1 > /proc/sys/net/ipv4/conf/${near}/route_localnet`,
  );
  // there is no loopback at the far end: 127.0.0.1 is the machine that this process sees as its own
  await there(
    `ip addr add ${farAddress}/30 dev ${far}`,
    `ip link set ${far} up`,
    `echo 1 > /proc/sys/net/ipv4/conf/${far}/route_localnet`,
    `ip route add 127.0.0.0/8 via ${nearAddress} dev ${far} src ${farAddress}`,
    `ip rule add pref ${localTablePreference} lookup local`,
    'ip rule del pref 0',
  );
  await setLocalPorts();

  return {
    enter,
    async unplug() {
      await here(`ip link set ${near} down`);
    },
    // each end drops what arrives: the sender learns nothing
    async lose(port, direction) {
      if (direction !== 'back') await here(`ip rule add pref ${cut} iif ${near} ipproto tcp dport ${port} blackhole`);
      if (direction !== 'there') await there(`ip rule add pref ${cut} iif ${far} ipproto tcp sport ${port} blackhole`);
    },
    async throttle() {
      await Promise.all([here(`tc qdisc replace dev ${near} ${slow}`), there(`tc qdisc replace dev ${far} ${slow}`)]);
    },
    async reset(port) {
      await there(`ss --no-header --kill dst 127.0.0.1 dport = :${port}`);
    },
    async forget(port) {
      const older = `${firstPort}-${newest + portsOfGeneration - 1}`;
      newest += portsOfGeneration;
      if (newest + portsOfGeneration > lastPort) throw new Error('A wire can forget 62 times; ask for fewer cuts.');
      await setLocalPorts();
      await Promise.all([
        here(`ip rule add pref ${forgotten} iif ${near} ipproto tcp sport ${older} dport ${port} blackhole`),
        there(`ip rule add pref ${forgotten} iif ${far} ipproto tcp sport ${port} dport ${older} blackhole`),
      ]);
    },
    async heal() {
      const forgetCut = `while ip rule del pref ${cut} 2>/dev/null; do :; done`;
      await Promise.all([
        here(`ip link set ${near} up`, forgetCut, `tc qdisc del dev ${near} root 2>/dev/null || :`),
        there(forgetCut, `tc qdisc del dev ${far} root 2>/dev/null || :`),
      ]);
    },
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}

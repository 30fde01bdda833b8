import type { Egress } from '../network/egress.ts';

/** Network that commands may reach in addition to their own loopback. */
export interface SandboxNetwork {
  /** `host`, at the ports of HTTP and HTTPS, or `host:port`. */
  hosts: readonly string[];
  egress: Egress;
}

const usualPorts = [80, 443];
const proxyPort = 3128;
const proxyUrl = `http://127.0.0.1:${proxyPort}`;
const ownNames = 'localhost,127.0.0.1,::1';

/** Reports whether a host may be reached at a port. Names are compared as written. */
export function isRunHost(hosts: readonly string[], host: string, port: number): boolean {
  return hosts.includes(`${host}:${port}`) || (usualPorts.includes(port) && hosts.includes(host));
}

/** Environment that points programs to the proxy; Node's own `fetch` and `http` use it only when enabled. */
export const proxyEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxyUrl,
  HTTPS_PROXY: proxyUrl,
  NO_PROXY: ownNames,
  http_proxy: proxyUrl,
  https_proxy: proxyUrl,
  no_proxy: ownNames,
  npm_config_proxy: proxyUrl,
  npm_config_https_proxy: proxyUrl,
  NODE_USE_ENV_PROXY: '1',
};

/** Exit code of a sandbox whose network proxy does not come up. */
export const noNetworkCode = 125;
/**
 * Script that runs in the sandbox before the command. It listens, hands the listening socket to its parent, and exits.
 * A socket stays in the network namespace it was created in, so connections made inside are answered from outside.
 */
const listening = `const server = require("net").createServer().listen(${proxyPort}, "127.0.0.1", () => process.send("listening", server));
for (const event of ["message", "disconnect"]) process.on(event, () => process.exit());
server.on("error", () => process.exit(1));`;

interface OnlineShell {
  fd: number;
  script: string;
  /** The words that start Node. */
  node: readonly string[];
  command: string;
}

/** Returns the shell that starts a command once the proxy is up; the channel at `fd` is closed by then. */
export function onlineShell({ fd, script: start, node, command }: OnlineShell): string[] {
  const listen = `(cd / && shift && NODE_USE_ENV_PROXY= NODE_CHANNEL_FD=${fd} exec "$@") > /dev/null 2>&1`;
  const script = `${listen} || exit ${noNetworkCode}; exec ${fd}>&-; set -- "$1"; ${start}`;
  return ['-c', script, 'command', command, ...node, '-e', listening];
}

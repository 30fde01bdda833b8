import type { Egress } from '../../lib/network/egress.ts';

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

/** Time after which a command whose parent does not answer gives up: Node misses the end of one that died early. */
const answerMs = 15_000;
/** Exit code of a sandbox whose command did not start, because the process that started it gave no answer. */
export const noAnswerCode = 125;
/**
 * Script that runs in the sandbox before the command. It listens, hands the listening socket to its parent, and exits.
 * A socket stays in the network namespace it was created in, so connections made inside are answered from outside.
 */
const listening = `const fail = () => process.exit(1);
setTimeout(fail, ${answerMs});
process.on("message", () => process.exit()).on("disconnect", fail);
const server = require("net").createServer().on("error", fail);
server.listen(${proxyPort}, "127.0.0.1", () => (process.connected ? process.send("listening", server) : fail()));`;

/** A command that starts once its parent has answered on the channel at `fd`, which is closed by then. */
interface WaitingShell {
  fd: number;
  script: string;
  command: string;
}

/**
 * Returns the shell that starts a command without a network. A parent that has died does not answer: bubblewrap ends
 * with its parent only once it has come up, so a command that did not wait could outlive it.
 */
export function offlineShell({ fd, script: start, command }: WaitingShell): string[] {
  const wait = `{ echo '"waiting"' >&${fd} && read -r _ <&${fd}; } 2> /dev/null`;
  return ['-c', `${wait} || exit ${noAnswerCode}; exec ${fd}>&-; ${start}`, 'command', command];
}

/** Returns the shell that starts a command once its proxy is up; `node` has the words that start Node. */
export function onlineShell({
  fd,
  script: start,
  command,
  node,
}: WaitingShell & { node: readonly string[] }): string[] {
  const listen = `(cd / && shift && NODE_USE_ENV_PROXY= NODE_CHANNEL_FD=${fd} exec "$@") > /dev/null 2>&1`;
  const script = `${listen} || exit ${noAnswerCode}; exec ${fd}>&-; set -- "$1"; ${start}`;
  return ['-c', script, 'command', command, ...node, '-e', listening];
}

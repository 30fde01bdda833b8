import { isIP } from 'node:net';

export type ParsedRunHosts = { ok: true; hosts: string[] } | { ok: false; problem: string };

/**
 * Parses the hosts that commands may reach: comma-separated names, each optionally with the one port at which it may be reached.
 */
export function parseRunHosts(text: string): ParsedRunHosts {
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
  const hosts = entries.filter((entry) => entry !== '');
  const wrong = hosts.find((host) => !isHostName(host));
  if (wrong === undefined) return { ok: true, hosts: [...new Set(hosts)] };
  return {
    ok: false,
    problem: 'must be host names (host or host:port), separated by commas, without * and IP addresses',
  };
}

/** Reports whether a text is the name of a host, optionally with a port: `host` or `host:port`. */
export function isHostName(entry: string): boolean {
  const [, name = '', port = '443'] = /^([a-z\d](?:[a-z\d.-]*[a-z\d])?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  // the URL parser normalizes every spelling of an IP address to the plain one, which `isIP` detects
  const url = URL.parse(`https://${name}:${port}`);
  return name !== '' && Number(port) > 0 && url?.hostname === name && isIP(name) === 0;
}

import { isHostName } from './run-hosts.ts';

/** Most hosts of a project. */
export const maxFetchHosts = 50;
const maxHostLength = 261;

const usualPorts = new Set(['80', '443']);

interface Pattern {
  /** A name; with `isWild`, all names below it. */
  name: string;
  isWild: boolean;
  /** Null for the ports of HTTP and HTTPS. */
  port: string | null;
}

export type ParsedFetchHost = { ok: true; host: string } | { ok: false; problem: string };

/** Parses a host of web pages: `docs.example.com`, or `*.example.com` for all names below it, optionally with a port. */
export function parseFetchHost(text: string): ParsedFetchHost {
  const host = text.trim().toLowerCase();
  const name = host.replace(/^\*\./, '');
  // no one owns all names below a top-level domain
  const isWide = name !== host && !name.includes('.');
  if (host.length <= maxHostLength && isHostName(name) && !isWide) return { ok: true, host };
  return { ok: false, problem: 'must be a host such as docs.example.com or *.example.com, without an IP address' };
}

/** Reports whether one of the hosts covers the host of a URL. */
export function isFetchHost(hosts: readonly string[], { protocol, hostname, port }: URL): boolean {
  const target = { name: hostname, isWild: false, port: port === '' ? (protocol === 'https:' ? '443' : '80') : port };
  return hosts.some((host) => covers(patternOf(host), target));
}

/** Returns the intersection of two lists of hosts. */
export function commonHosts(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set(a.flatMap((host) => b.flatMap((limit) => common(patternOf(host), patternOf(limit)) ?? [])))];
}

function patternOf(host: string): Pattern {
  const [name = '', port = null] = host.replace(/^\*\./, '').split(':');
  return { name, isWild: host.startsWith('*.'), port };
}

function covers(limit: Pattern, target: Pattern): boolean {
  return coversName(limit, target) && coversPort(limit, target);
}

function coversName(limit: Pattern, { name, isWild }: Pattern): boolean {
  if (limit.isWild) return name.endsWith(`.${limit.name}`) || (isWild && name === limit.name);
  return !isWild && name === limit.name;
}

function coversPort(limit: Pattern, { port }: Pattern): boolean {
  return limit.port === port || (limit.port === null && port !== null && usualPorts.has(port));
}

/** Returns the host that two patterns have in common; null when there is none. */
function common(a: Pattern, b: Pattern): string | null {
  const named = coversName(a, b) ? b : coversName(b, a) ? a : null;
  const ported = coversPort(a, b) ? b : coversPort(b, a) ? a : null;
  if (named === null || ported === null) return null;
  return `${named.isWild ? '*.' : ''}${named.name}${ported.port === null ? '' : `:${ported.port}`}`;
}

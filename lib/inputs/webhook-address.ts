import { isPublicAddress } from './public-address.ts';

export type ParsedWebhookAddress = { ok: true; url: string } | { ok: false; problem: string };

const maxAddressLength = 2_048;

/**
 * Validates the address of a receiver: https at a public host, or any host in `allowedHosts` (`host` or `host:port`).
 * The addresses that a host name resolves to are checked when the connection is made. `setting` is the one with the
 * allowed hosts.
 */
export function parseWebhookAddress(
  text: string,
  allowedHosts: readonly string[],
  setting = 'DOCKET_WEBHOOK_ALLOWED_HOSTS of the service',
): ParsedWebhookAddress {
  if (text.length > maxAddressLength) return refused(`must have at most ${maxAddressLength} characters`);
  if (!URL.canParse(text)) return refused('must be an https:// address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('must be an https:// address');
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or password');
  if (url.hash !== '') return refused('must not contain a fragment');
  if (!isAllowedHost(url, allowedHosts)) {
    if (url.protocol !== 'https:') return refused(`must be an https:// address, unless ${setting} names its host`);
    if (isPrivateName(url.hostname)) return refused(`resolves to a private address, which only ${setting} can allow`);
  }
  return { ok: true, url: url.href };
}

/** Parses `DOCKET_WEBHOOK_ALLOWED_HOSTS`: hosts as `host` or `host:port`, comma separated. */
export function parseWebhookHosts(text: string): string[] {
  const hosts = text.split(',').map((host) => host.trim().toLowerCase());
  return hosts.filter((host) => host !== '');
}

/** Reports whether the operator allows webhooks to this host at any address, and without TLS. */
export function isAllowedHost({ protocol, hostname, port }: URL, allowedHosts: readonly string[]): boolean {
  const full = `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  return allowedHosts.some((allowed) => allowed === hostname || allowed === full);
}

/** Matches names and addresses that are known to be private without DNS. */
function isPrivateName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name.startsWith('[')) return !isPublicAddress(name.slice(1, -1));
  return /^[\d.]+$/.test(name) && !isPublicAddress(name);
}

function refused(problem: string): ParsedWebhookAddress {
  return { ok: false, problem: `The url ${problem}.` };
}

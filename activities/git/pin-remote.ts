import type { Egress } from '../../lib/network/egress.ts';
import { GitError } from './git-error.ts';
import { PrivateAddressError } from '../../lib/network/public-lookup.ts';

/**
 * Returns the options that let git connect only to the checked addresses, even if the DNS answer changes.
 * Errors: GitError.
 */
export async function pinRemote(
  { egress, signal }: { egress: Egress; signal: AbortSignal },
  remote: string | undefined,
): Promise<string[]> {
  const url = remote === undefined ? null : URL.parse(remote);
  if (url === null) throw new GitError('other', { message: 'The git command does not say which server it reaches.' });
  const addresses = await checkedAddresses({ egress, signal }, url);
  if (addresses.length === 0) return [];
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const list = addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',');
  return ['-c', `http.curloptResolve=${url.hostname}:${port}:${list}`];
}

/** Returns the addresses that a host may be reached at; none when the host is itself an address. Errors: GitError. */
export async function checkedAddresses(
  { egress, signal }: { egress: Egress; signal: AbortSignal },
  url: URL,
): Promise<string[]> {
  try {
    return await egress.addressesOf(url, signal);
  } catch (cause) {
    if (signal.aborted) throw new GitError('aborted');
    if (!(cause instanceof PrivateAddressError)) throw new GitError('unreachable', { cause });
    throw new GitError('not-found', {
      message:
        "The repository's host resolves to a private network. If that is intended, add it to the worker's DOCKET_PRIVATE_HOSTS.",
      cause,
    });
  }
}

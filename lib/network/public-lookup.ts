import { lookup as lookUp, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../inputs/public-address.ts';

/** The host name resolves to an address that may not be connected to. */
export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError';
}

/** Resolves a host name to all of its addresses. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveBySystem: Resolve = (hostname, done) => lookUp(hostname, { all: true, verbatim: true }, done);

/** Creates the lookup for connections to any address. */
export function createLookup(resolve: Resolve = resolveBySystem): LookupFunction {
  return createCheckedLookup(resolve, () => true);
}

/**
 * Creates the lookup for connections to the public internet only. The connection goes to the addresses that were checked,
 * so a DNS answer that changes meanwhile has no effect. A name with any private address is refused.
 */
export function createPublicLookup(resolve: Resolve = resolveBySystem): LookupFunction {
  return createCheckedLookup(resolve, isPublicAddress);
}

function createCheckedLookup(resolve: Resolve, mayBeReached: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`The name has no address.`), '', 0);
        return;
      }
      if (!addresses.every(({ address }) => mayBeReached(address))) {
        callback(new PrivateAddressError('The host name resolves to a private address.'), '', 0);
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

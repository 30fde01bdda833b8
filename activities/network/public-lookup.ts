import { lookup as lookUp, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../../lib/inputs/public-address.ts';

/** A host name that leads to an address which may not be connected to. */
export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError';
}

/** Asks the DNS for all addresses of a name. */
export type Resolve = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveBySystem: Resolve = (hostname, done) => lookUp(hostname, { all: true, verbatim: true }, done);

/** The lookup of a connection that may lead anywhere. */
export function createLookup(resolve: Resolve = resolveBySystem): LookupFunction {
  return createCheckedLookup(resolve, () => true);
}

/**
 * The lookup of a connection that may lead to the public internet only. The connection is made to the very addresses that were
 * checked, so a name that changes in between leads nowhere else. One private address among them refuses all.
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

import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { readerKeyOwner, type ReaderKey, type SiteRow, type SiteStore } from '../../db/sites/sites.ts';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import { publicPages, type PageAccess } from '../../search/query/page-access.ts';
import { noReaderTokens, readerTokenRefused } from '../http/errors.ts';
import type { ApiCaller } from './api-caller.ts';

/** Returns which pages of a site a caller may read. Throws 401 for an invalid token. */
export type ReaderAccess = (request: { caller: ApiCaller; site: SiteRow; token: string }) => Promise<PageAccess>;

/** Header field in which a site's own server proves the groups of its reader. */
export const readerTokenHeader = {
  'X-Reader-Token': z.string().default('').meta({
    description:
      'A JSON Web Token, signed with the key of the site, with the `groups` of the reader. Without it, pages with groups are hidden. Responses have `Vary: X-Reader-Token`.',
  }),
};

const maxTokenLength = 8_192;
/** Longest validity of a token, in the notation of jose. */
const maxAge = '1h';
const clockToleranceSeconds = 30;
const claimsSchema = z.object({ groups: z.array(z.string().min(1).max(200)).max(100) });

/**
 * Creates the check of a reader's groups. A session sees every page, because the site belongs to its organization; with
 * a token it sees what that reader would. Tokens are JWTs (RFC 7519) with `iss`, `aud`, `iat`, `exp` and `groups`.
 */
export function createReaderAccess(deps: {
  sites: Pick<SiteStore, 'readerKey'>;
  box: Pick<SecretBox, 'open'>;
}): ReaderAccess {
  return async ({ caller, site, token }) => {
    if (token === '') return caller.sessionId === null ? publicPages : 'all';
    const stored = site.readerTokens === null ? null : await deps.sites.readerKey(site);
    if (stored === null) throw noReaderTokens();
    if (token.length > maxTokenLength) throw readerTokenRefused(`it has more than ${maxTokenLength} characters`);
    const key = deps.box.open(stored.key, readerKeyOwner(site.id));
    const claims = claimsSchema.safeParse(await verify(token, { ...stored, key }, site.domain));
    if (!claims.success) throw readerTokenRefused('its `groups` must be an array of at most 100 names');
    return { groups: claims.data.groups };
  };
}

async function verify(token: string, { key, algorithm, issuer }: ReaderKey, audience: string): Promise<unknown> {
  // few sites have readers with tokens
  const { errors, importSPKI, jwtVerify } = await import('jose');
  try {
    const verifier = algorithm === 'EdDSA' ? await importSPKI(key, algorithm) : Buffer.from(key);
    const { payload } = await jwtVerify(token, verifier, {
      algorithms: [algorithm],
      issuer,
      audience,
      requiredClaims: ['exp', 'iat'],
      maxTokenAge: maxAge,
      clockTolerance: clockToleranceSeconds,
    });
    return payload;
  } catch (error) {
    throw readerTokenRefused(reasonOf(error, errors));
  }
}

function reasonOf(error: unknown, errors: typeof import('jose').errors): string {
  if (error instanceof errors.JWTExpired) return 'it has expired, or is older than an hour';
  if (error instanceof errors.JWTClaimValidationFailed) return `its \`${error.claim}\` is missing or wrong`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'it is not signed with the algorithm that the site expects';
  if (error instanceof errors.JWSSignatureVerificationFailed) return "it is not signed with the site's key";
  return 'it is not a JSON Web Token that this site can verify';
}

/** Reports whether a text is the public key of an Ed25519 pair in PEM, and nothing else. */
export function isEd25519PublicKey(pem: string): boolean {
  if (!/^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/.test(pem)) return false;
  try {
    return createPublicKey(pem).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

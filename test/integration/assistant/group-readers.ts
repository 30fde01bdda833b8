import { SignJWT } from 'jose';
import type { ServedApi } from '../api/serve.ts';
import type { TestSite } from './site.ts';

const issuer = 'https://app.example.com';
const secret = 'a-secret-that-two-servers-share-0001';

/** Lets a site accept tokens of `tokenOf`. */
export async function acceptTokens(api: ServedApi, { site, adminKey: key }: TestSite): Promise<void> {
  const json = { readerTokens: { algorithm: 'HS256', issuer, secret } };
  const { status } = await api.ask(`/v1/sites/${site.domain}`, { key, method: 'PATCH', json });
  if (status !== 200) throw new Error(`The site accepts no tokens: status ${status}`);
}

/** The header of a reader with these groups, or of one without a token; a forged token has another signature. */
export async function readerHeaders(
  { site }: Pick<TestSite, 'site'>,
  groups: string[] | null,
  { isForged = false } = {},
): Promise<Record<string, string>> {
  if (groups === null) return {};
  const token = await new SignJWT({ groups })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(issuer)
    .setAudience(site.domain)
    .setIssuedAt()
    .setExpirationTime('50m')
    .sign(Buffer.from(isForged ? `${secret}-of-another-site` : secret));
  return { 'X-Reader-Token': token };
}

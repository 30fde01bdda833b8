/** A host of GitHub Enterprise Cloud with data residency, such as `acme.ghe.com`, whose API is at `api.acme.ghe.com`. */
const residency = /^[a-z\d-]+\.ghe\.com$/;

/** Returns the API address of github.com, of a host with data residency, or of an Enterprise server. */
export function githubApiOf(url: string): string {
  const { origin, hostname } = new URL(url);
  const isCloud = hostname === 'github.com' || residency.test(hostname);
  return isCloud ? `https://api.${hostname}` : `${origin}/api/v3`;
}

/** Returns the address for browsers and git of the server with this API. */
export function githubUrlOf(apiUrl: string): string {
  const { origin, hostname } = new URL(apiUrl);
  const host = hostname.replace(/^api\./, '');
  const isCloud = hostname !== host && (host === 'github.com' || residency.test(host));
  return isCloud ? `https://${host}` : origin;
}

/** Returns the address of the GraphQL API of the server with this API. */
export function githubGraphqlOf(apiUrl: string): string {
  return `${apiUrl.replace(/\/v3$/, '')}/graphql`;
}

/** Returns the API address of github.com or of an Enterprise server. */
export function githubApiOf(url: string): string {
  const { origin, hostname } = new URL(url);
  return hostname === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`;
}

/** Returns the address for browsers and git of the server with this API. */
export function githubUrlOf(apiUrl: string): string {
  const { origin, hostname } = new URL(apiUrl);
  return hostname === 'api.github.com' ? 'https://github.com' : origin;
}

/** Returns the address of the GraphQL API of the server with this API. */
export function githubGraphqlOf(apiUrl: string): string {
  return `${apiUrl.replace(/\/v3$/, '')}/graphql`;
}

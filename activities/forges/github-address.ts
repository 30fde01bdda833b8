/** The API of GitHub at github.com and of an Enterprise server. */
export function githubApiOf(url: string): string {
  const { origin, hostname } = new URL(url);
  return hostname === 'github.com' ? 'https://api.github.com' : `${origin}/api/v3`;
}

/** Where people and git reach the server whose API this is. */
export function githubUrlOf(apiUrl: string): string {
  const { origin, hostname } = new URL(apiUrl);
  return hostname === 'api.github.com' ? 'https://github.com' : origin;
}

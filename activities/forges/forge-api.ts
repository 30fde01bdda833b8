import type { Egress } from '../../lib/network/egress.ts';
import type { GitCredential } from '../git/git-credential.ts';
import { askForge, type ForgeResponse } from './forge-http.ts';
import type { HostedKind } from './forges.ts';
import { githubGraphqlOf } from './github-address.ts';
import { repositoryPath } from './repository-path.ts';

export interface ForgeQuestion {
  /** Version that is known already. */
  etag?: string | null;
  /** Sends no credential, to see what is public. */
  isAnonymous?: boolean;
  signal: AbortSignal;
}

export interface ForgeApiOptions {
  kind: HostedKind;
  forge: string;
  /** Web address of the server, and that of its API. */
  url: string;
  apiUrl: string;
  credential: GitCredential | null;
  egress: Egress;
}

/** Asks a forge about one repository. Errors: ForgeError. */
export type ForgeApi = ReturnType<typeof createForgeApi>;

/** Creates the API client for one repository. A credential is sent only to its own server. Errors: ForgeError. */
export function createForgeApi(repository: string, { kind, forge, url, apiUrl, credential, egress }: ForgeApiOptions) {
  const { owner, name, path: whole } = repositoryPath(repository, { root: url, forge });
  const base =
    kind === 'gitlab'
      ? `${apiUrl}/projects/${encodeURIComponent(whole)}`
      : `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  const own = credential?.origin === new URL(url).origin ? credential : null;
  const headersWith = (token: string | null) => ({
    accept: 'application/json',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  });
  return {
    kind,
    /** Name of the forge, for error messages. */
    forge,
    hasCredential: own !== null,
    /** Returns any answer of GitHub's GraphQL API; the variables get the `owner` and `name` of the repository. */
    async graphql(
      { query, variables }: { query: string; variables: object },
      signal: AbortSignal,
    ): Promise<ForgeResponse> {
      const headers = { ...headersWith((await own?.token()) ?? null), 'content-type': 'application/json' };
      const body = JSON.stringify({ query, variables: { ...variables, owner, name } });
      return await askForge({ forge, method: 'POST', url: githubGraphqlOf(apiUrl), headers, body, egress, signal });
    },
    /** Returns any answer to a path below the address of the repository in the API. */
    async get(path: string, options: ForgeQuestion): Promise<ForgeResponse> {
      const { etag = null, isAnonymous = false, signal } = options;
      const token = isAnonymous ? null : ((await own?.token()) ?? null);
      const headers = { ...headersWith(token), ...(etag !== null && { 'if-none-match': etag }) };
      return await askForge({ forge, method: 'GET', url: `${base}${path}`, headers, egress, signal });
    },
  };
}

import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { createEgress, type Egress } from '../network/egress.ts';

export interface GithubRepository {
  owner: string;
  repo: string;
}

/** What the worker shows to GitHub for one repository. Errors: as Octokit throws them. */
export interface GithubCredential {
  /** `fresh` after GitHub refused the last one; a credential that cannot be renewed answers the same again. */
  tokenFor(target: GithubRepository, options?: { fresh?: boolean }): Promise<string>;
  isRenewable: boolean;
  /** Gives back what was minted for it, and may be asked for more afterwards. Absent where nothing is minted. */
  revoke?(signal: AbortSignal): Promise<void>;
}

export interface GithubApp {
  appId: string;
  /** PEM. */
  privateKey: string;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const installationSchema = z.object({ id: z.number().int() });

/** Makes Octokit for one server; it follows no redirect, so the token stays with it. */
export function createOctokit({
  apiUrl,
  token,
  egress,
}: {
  apiUrl: string;
  token: string | null;
  egress: Egress;
}): Octokit {
  return new Octokit({
    ...(token === null ? {} : { auth: token }),
    baseUrl: apiUrl.replace(/\/+$/, ''),
    userAgent: 'docket',
    log: silent,
    request: { redirect: 'manual', fetch: egress.fetch },
  });
}

export function createTokenCredential(token: string): GithubCredential {
  return { tokenFor: async () => token, isRenewable: false };
}

/**
 * Tokens of a GitHub App's installation: each for one repository, with contents and pull requests only. One lives for an hour;
 * a job that runs longer gets the next one when it asks.
 */
export function createAppCredential(
  { appId, privateKey }: GithubApp,
  apiUrl: string,
  egress = createEgress(),
): GithubCredential {
  const octokit = createOctokit({ apiUrl, token: null, egress });
  const auth = createAppAuth({ appId, privateKey, request: octokit.request });
  const installations = new Map<string, number>();
  const minted = new Set<string>();

  async function installationOf({ owner, repo }: GithubRepository): Promise<number> {
    const name = `${owner}/${repo}`;
    const known = installations.get(name);
    if (known !== undefined) return known;
    const { token } = await auth({ type: 'app' });
    const headers = { authorization: `bearer ${token}` };
    const { data } = await octokit.rest.apps.getRepoInstallation({ owner, repo, headers });
    const { id } = installationSchema.parse(data);
    installations.set(name, id);
    return id;
  }

  return {
    isRenewable: true,
    async tokenFor(target, { fresh = false } = {}) {
      if (fresh) installations.delete(`${target.owner}/${target.repo}`);
      const { token } = await auth({
        type: 'installation',
        installationId: await installationOf(target),
        repositoryNames: [target.repo],
        permissions: { contents: 'write', pull_requests: 'write' },
        refresh: fresh,
      });
      minted.add(token);
      return token;
    },
    async revoke(signal) {
      const tokens = [...minted];
      minted.clear();
      const revoked = tokens.map((token) =>
        createOctokit({ apiUrl, token, egress }).rest.apps.revokeInstallationAccessToken({ request: { signal } }),
      );
      const failed = (await Promise.allSettled(revoked)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

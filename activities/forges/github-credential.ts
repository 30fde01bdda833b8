import { createRequire } from 'node:module';
import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import { allOf } from '../../lib/all-of.ts';
import { isUnprocessable } from './github-failure.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export interface GithubRepository {
  owner: string;
  repo: string;
}

/** The worker's credential for GitHub. Throws the errors of Octokit. */
export interface GithubCredential {
  /** Returns a token; `fresh` after GitHub rejected the last one. A token that cannot be renewed is returned again. */
  tokenFor(target: GithubRepository, options?: { fresh?: boolean }): Promise<string>;
  isRenewable: boolean;
  /** Revokes the minted tokens; more can be minted afterwards. Absent when none are minted. */
  revoke?(signal: AbortSignal): Promise<void>;
}

export interface GithubApp {
  appId: string;
  /** In PEM. */
  privateKey: string;
}

interface AppOptions {
  egress?: Egress;
  /** Whether its tokens may change workflow files, if the App has that permission. */
  mayChangeWorkflows?: boolean | undefined;
}

// only a worker with a project on GitHub loads its clients
const load = createRequire(import.meta.url);

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const installationSchema = z.object({ id: z.number().int() });

/** Creates an Octokit for one server. It follows no redirects, so the token stays with that server. */
export function createOctokit({
  apiUrl,
  token,
  egress,
}: {
  apiUrl: string;
  token: string | null;
  egress: Egress;
}): Octokit {
  const rest: typeof import('@octokit/rest') = load('@octokit/rest');
  const octokit = new rest.Octokit({
    ...(token === null ? {} : { auth: token }),
    baseUrl: trimEndSlashes(apiUrl),
    userAgent: 'docket',
    log: silent,
    request: { redirect: 'manual', fetch: withoutJson(egress.fetch) },
  });
  octokit.hook.after('request', (response) => {
    response.data = parsed(response.data);
  });
  return octokit;
}

/** Longer than any error that GitHub describes. */
const maxErrorLength = 65_536;

/**
 * Hides that an answer is JSON. Octokit's own parser, for large numbers, takes six times as long as JSON.parse: a page
 * of pull requests would block the event loop.
 */
function withoutJson(fetch: Egress['fetch']): Egress['fetch'] {
  return async (...request) => {
    const response = await fetch(...request);
    const text = await response.text();
    const headers = new Headers(response.headers);
    if (response.ok || text.length > maxErrorLength) headers.delete('content-type');
    return new Response(text === '' ? null : text, { status: response.status, headers });
  };
}

/** Returns the value of a JSON text, and anything else unchanged. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function createTokenCredential(token: string): GithubCredential {
  return { tokenFor: async () => token, isRenewable: false };
}

/**
 * Creates a credential from a GitHub App's installation. Each token is for one repository, and for contents, pull requests
 * and, where allowed, workflow files only. A token expires after an hour; a job that runs longer gets a new one.
 */
export function createAppCredential(
  { appId, privateKey }: GithubApp,
  apiUrl: string,
  { egress = createEgress(), mayChangeWorkflows = false }: AppOptions = {},
): GithubCredential {
  const octokit = createOctokit({ apiUrl, token: null, egress });
  const { createAppAuth }: typeof import('@octokit/auth-app') = load('@octokit/auth-app');
  const auth = createAppAuth({ appId, privateKey, request: octokit.request });
  const installations = new Map<string, number>();
  /** The newest token of each repository; earlier ones were rejected, or expire within a minute. */
  const minted = new Map<string, string>();

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
      const installationId = await installationOf(target);
      const mint = (permissions: Record<string, string>) =>
        auth({ type: 'installation', installationId, repositoryNames: [target.repo], permissions, refresh: fresh });
      const usual = { contents: 'write', pull_requests: 'write' };
      // without the permission of the App, GitHub refuses the token; a change of other files needs none
      const { token } = mayChangeWorkflows
        ? await mint({ ...usual, workflows: 'write' }).catch((error: unknown) => {
            if (!isUnprocessable(error)) throw error;
            return mint(usual);
          })
        : await mint(usual);
      minted.set(`${target.owner}/${target.repo}`, token);
      return token;
    },
    async revoke(signal) {
      const tokens = [...minted.values()];
      minted.clear();
      const revoked = tokens.map((token) =>
        createOctokit({ apiUrl, token, egress }).rest.apps.revokeInstallationAccessToken({ request: { signal } }),
      );
      await allOf(revoked);
    },
  };
}

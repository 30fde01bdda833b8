import type { GitCredential } from '../git/git-credential.ts';
import { ensurePullRequest, type PullRequestRequests } from './ensure-pull-request.ts';
import type { Forge } from './forge.ts';
import { createMerging, type MergeRequests } from './merge-pull-request.ts';
import { liesBelow } from './repository-path.ts';

/** The requests in which forges with a server of their own differ. Errors: ForgeError. */
export interface ForgeRequests extends PullRequestRequests, MergeRequests {
  /** Web address of the server, without a slash at its end. */
  root: string;
  credentialOf(repository: string): Omit<GitCredential, 'origin'>;
  revoke?: Forge['revoke'];
}

/** Creates a forge with its own server. Its credential is only for repositories of that server. */
export function createHostedForge(requests: ForgeRequests): Forge {
  const { root } = requests;
  return {
    credential(repository) {
      if (!liesBelow(repository, root)) return null;
      return { ...requests.credentialOf(repository), origin: new URL(root).origin };
    },
    ensurePullRequest: (draft) => ensurePullRequest(requests, draft),
    async pullRequestState(address) {
      const { state, draft } = await requests.read(address);
      return { state, draft };
    },
    merging: createMerging(requests),
    revoke: requests.revoke,
  };
}

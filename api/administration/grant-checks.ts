import type { Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import { problemWithDirectory, problemWithRepositories } from '../../lib/inputs/grants.ts';
import { invalidRequest } from '../http/errors.ts';

export interface GrantChecks {
  /** Throws ApiError unless the organization may use all of them, those on a forge with a token of its own or under a grant. */
  checkRepositories(
    owner: Owner,
    use: { repositories: readonly string[]; forgeUrl?: string | null; needsCredential: boolean },
  ): Promise<void>;
  /** Throws ApiError unless the organization may use a directory of the worker's machine. */
  checkDirectory(owner: Owner, directory: string): Promise<void>;
}

/** Says early what a worker would refuse: it reads the grants again when it uses what they are for. */
export function createGrantChecks({ grants }: { grants: Pick<GrantStore, 'resources'> }): GrantChecks {
  return {
    async checkRepositories({ organizationId }, use) {
      const resources = await grants.resources({ organizationId });
      refuse(problemWithRepositories({ organizationId, resources, ...use }));
    },
    async checkDirectory({ organizationId }, directory) {
      const resources = await grants.resources({ organizationId });
      refuse(problemWithDirectory({ organizationId, resources, directory }));
    },
  };
}

function refuse(problem: string | null): void {
  if (problem !== null) throw invalidRequest(problem);
}

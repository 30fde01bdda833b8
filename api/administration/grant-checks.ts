import type { Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import { problemWithDirectory, problemWithRepositories } from '../../lib/inputs/grants.ts';
import { invalidRequest } from '../http/errors.ts';

/** Creates checks that report early what a worker would refuse. The worker reads the grants again when it uses them. */
export function createGrantChecks({ grants }: { grants: Pick<GrantStore, 'resources'> }) {
  return {
    /**
     * Throws ApiError unless the organization may use all repositories. Those on a forge need their own token or a grant.
     */
    async checkRepositories(
      { organizationId }: Owner,
      use: { repositories: readonly string[]; forgeUrl?: string | null; needsCredential: boolean },
    ): Promise<void> {
      const resources = await grants.resources({ organizationId });
      refuse(problemWithRepositories({ organizationId, resources, ...use }));
    },
    /** Throws ApiError unless the organization may use a directory on the worker's machine. */
    async checkDirectory({ organizationId }: Owner, directory: string): Promise<void> {
      const resources = await grants.resources({ organizationId });
      refuse(problemWithDirectory({ organizationId, resources, directory }));
    },
  };
}

function refuse(problem: string | null): void {
  if (problem !== null) throw invalidRequest(problem);
}

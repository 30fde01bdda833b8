import { join } from 'node:path';
import { createGrantedAccess } from '../../../../activities/job/granted-access.ts';
import type { RemoteCredential } from '../../../../activities/git/git.ts';
import type { WorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { createClients } from '../../../../worker/clients.ts';
import { readConfig } from '../../../../worker/config/config.ts';
import { answered, type Scene } from './scene.ts';

/** Repositories that a job may name. */
export const localRootOf = ({ directory }: Scene) => join(directory, 'root');

interface OpenOptions {
  ref?: string | null;
  path?: string;
  credential?: RemoteCredential | null;
}

/**
 * Opens a repository the way a job does, with every check before it; returns the content of `path` at the commit, or null
 * is refused.
 */
export async function openAsJob(
  scene: Scene,
  repository: string,
  { ref = null, path = 'secret.txt', credential = null }: OpenOptions = {},
): Promise<string | null> {
  const config = readConfig({
    DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket',
    DOCKET_WORK_DIR: join(scene.directory, 'work'),
    DOCKET_LOCAL_REPOSITORIES: localRootOf(scene),
    DOCKET_ALLOWED_HOSTS: 'allowed.test',
  });
  const clients = createClients({ config, pullRequests: {} as WorkerPullRequestStore });
  const owner = { organizationId: 'org_1' };
  const granted = createGrantedAccess({
    ...clients,
    grants: { resources: async () => [`${localRootOf(scene)}/*`] },
    projects: { list: async () => [] },
    credentials: {
      read: async () => null,
      readOfJob: async () => null,
      openJob() {
        throw new Error('No job is opened.');
      },
    },
    secrets: { learn: () => undefined },
  });
  const isAllowed = await granted.checkRepository(owner, repository).then(
    () => true,
    () => false,
  );
  if (!isAllowed) return null;
  const access = { ...owner, repository, credential, signal: AbortSignal.timeout(30_000) };
  const resolved = await answered(clients.workspaces.resolve({ ...access, ref }));
  if (resolved === null) return null;
  const file = await clients.workspaces.readFile({ ...access, commit: resolved.commit, path, maxBytes: 10_000 });
  return file?.toString() ?? null;
}

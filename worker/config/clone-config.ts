import { z } from 'zod';
import { parseWebhookHosts } from '../../lib/inputs/webhook-address.ts';

const positive = (unit: string) => z.coerce.number(`must be a number of ${unit}`).positive('must be more than 0');

/** With less, git does not start. */
const wholeMegabytes = z.coerce.number('must be a number of megabytes').min(256, 'must be at least 256');

/** The variables of where repositories may lie and how large they may be. */
export const cloneVariables = z.object({
  DOCKET_PRIVATE_HOSTS: z.string().default(''),
  DOCKET_REPOSITORY_MB: positive('megabytes').default(2_000),
  DOCKET_REPOSITORY_FILES: positive('files').default(200_000),
  DOCKET_REPOSITORY_DEPTH: positive('levels').default(100),
  DOCKET_GIT_MEMORY_MB: wholeMegabytes.default(4_096),
  DOCKET_CLONE_MINUTES: positive('minutes').default(15),
});

interface CloneEnvironment extends z.infer<typeof cloneVariables> {
  GITHUB_API_URL: string;
  GITLAB_URL: string;
  GITEA_URL?: string | undefined;
}

/** Hosts of which the public internet has the only one. */
const publicServers = new Set(['api.github.com', 'gitlab.com']);

/** What the worker may reach and take in. A server of one's own that a variable names is allowed wherever it lies. */
export function reachOf(env: CloneEnvironment) {
  const named = [env.GITHUB_API_URL, env.GITLAB_URL, env.GITEA_URL].flatMap((url) => URL.parse(url ?? '') ?? []);
  const own = named.filter(({ host }) => !publicServers.has(host)).map(fullHostOf);
  return {
    privateHosts: [...parseWebhookHosts(env.DOCKET_PRIVATE_HOSTS), ...own],
    cloneLimits: {
      bytes: env.DOCKET_REPOSITORY_MB * 1e6,
      files: env.DOCKET_REPOSITORY_FILES,
      depth: env.DOCKET_REPOSITORY_DEPTH,
      memoryBytes: env.DOCKET_GIT_MEMORY_MB * 2 ** 20,
      timeoutMs: env.DOCKET_CLONE_MINUTES * 60_000,
    },
  };
}

function fullHostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

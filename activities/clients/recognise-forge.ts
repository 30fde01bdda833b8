import { z } from 'zod';
import { wellKnownForges } from '../../workflows/contract/administration.ts';
import type { HostedKind } from './forges.ts';
import { askForge } from './forge-http.ts';
import { ForgeError } from './forge.ts';

const versionSchema = z.object({ version: z.string() });
const metaSchema = z.object({
  installed_version: z.string().optional(),
  verifiable_password_authentication: z.unknown(),
});

/**
 * Tells the forge of a repository from its host, else by asking the server, without any credential, for its version. Null when
 * the server is none that is known.
 */
export async function recogniseForge(repository: string, signal: AbortSignal): Promise<HostedKind | null> {
  const { host, origin } = new URL(repository);
  const known = wellKnownForges[host];
  if (known !== undefined) return known;
  if (versionSchema.safeParse((await ask(`${origin}/api/v1/version`, signal))?.data).success) return 'gitea';
  // it answers the version to nobody without a token
  const gitlab = await ask(`${origin}/api/v4/version`, signal);
  if (gitlab !== null && (gitlab.status === 401 || gitlab.status === 200) && isObject(gitlab.data)) return 'gitlab';
  const github = await ask(`${origin}/api/v3/meta`, signal);
  const isGithub = github !== null && (github.headers['x-github-request-id'] !== undefined || isMeta(github.data));
  return isGithub ? 'github' : null;
}

function isMeta(data: unknown): boolean {
  return metaSchema.safeParse(data).data?.installed_version !== undefined;
}

function isObject(data: unknown): boolean {
  return typeof data === 'object' && data !== null;
}

/** Null: no answer. */
async function ask(url: string, signal: AbortSignal) {
  try {
    return await askForge({ forge: 'The server', method: 'GET', url, headers: { accept: 'application/json' }, signal });
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

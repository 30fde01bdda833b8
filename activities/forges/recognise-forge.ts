import { z } from 'zod';
import { wellKnownForges } from '../../lib/inputs/administration.ts';
import { sshPlaceOf } from '../../lib/inputs/ssh-keys.ts';
import type { Egress } from '../network/egress.ts';
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
export async function recogniseForge(
  repository: string,
  { egress, signal }: { egress: Egress; signal: AbortSignal },
): Promise<HostedKind | null> {
  const ask = (url: string) => askQuietly(url, { egress, signal });
  const place = sshPlaceOf(repository);
  const { host, origin } = new URL(place === null ? repository : `https://${place.host}`);
  const known = wellKnownForges[host];
  if (known !== undefined) return known;
  if (versionSchema.safeParse((await ask(`${origin}/api/v1/version`))?.data).success) return 'gitea';
  // it answers the version to nobody without a token
  const gitlab = await ask(`${origin}/api/v4/version`);
  if (gitlab !== null && (gitlab.status === 401 || gitlab.status === 200) && isObject(gitlab.data)) return 'gitlab';
  const github = await ask(`${origin}/api/v3/meta`);
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
async function askQuietly(url: string, { egress, signal }: { egress: Egress; signal: AbortSignal }) {
  const headers = { accept: 'application/json' };
  try {
    return await askForge({ forge: 'The server', method: 'GET', url, headers, egress, signal });
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

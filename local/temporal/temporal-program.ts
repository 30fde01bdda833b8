import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { extract } from 'tar';
import { z } from 'zod';
import { downloadFile, downloadJson } from './download.ts';
import { cachedProgramOf, waysToBuild, type BuildContext, type GoProgram } from './go-program.ts';
import { pinnedPlatform, temporalRelease } from './pinned-downloads.ts';
import { keepProgram, type MakeProgram } from './program-cache.ts';
import { messageOf, StartError } from '../start-error.ts';

const program: GoProgram = {
  moduleDirectory: join(import.meta.dirname, 'temporal-cli'),
  source: 'github.com/temporalio/cli/cmd/temporal',
  name: 'temporal',
  title: 'the Temporal server',
  duration: 'about 4 minutes on two cores',
};

/** Host of Temporal's releases, which Temporal's SDKs use, too. */
const releases = 'https://temporal.download';
const releaseSchema = z.object({ archiveUrl: z.url({ protocol: /^https?$/ }) });

/**
 * Returns the path of the Temporal CLI: its official release, or a build of the same version of its module. Throws
 * StartError with the reasons why neither is possible.
 */
export async function obtainTemporal(
  context: BuildContext,
  ways: readonly MakeProgram[] = waysToObtainTemporal(context),
): Promise<string> {
  return keepProgram(await cachedProgramOf(program), context, ways);
}

function waysToObtainTemporal(context: BuildContext): MakeProgram[] {
  return [(work) => downloadRelease(work, context), ...waysToBuild(program, context)];
}

/** Downloads, verifies and unpacks the release. */
export async function downloadRelease(
  work: string,
  { host = releases, hash, ...context }: BuildContext & { host?: string; hash?: string },
): Promise<void> {
  const { version, hashes } = temporalRelease;
  const archive = join(work, 'release.tar.gz');
  try {
    const platform = pinnedPlatform();
    const [system = '', arch = ''] = platform.split('-');
    context.log(
      `Downloading the Temporal server ${version} from ${new URL(host).host} (once; usually less than a minute)`,
    );
    const query = new URLSearchParams({ arch, platform: system, format: 'tar.gz' });
    const release = releaseSchema.parse(await downloadJson(`${host}/cli/v${version}?${query}`, context));
    const found = await downloadFile(release.archiveUrl, { ...context, target: archive, title: 'Temporal' });
    if (found !== (hash ?? hashes[platform])) throw new StartError('its checksum is not the published one');
  } catch (error) {
    context.signal?.throwIfAborted();
    throw new StartError(`The official release was not downloaded: ${messageOf(error)}`, { cause: error });
  }
  await extract({ file: archive, cwd: work, filter: (path) => path === program.name, strict: true });
  await rm(archive);
}

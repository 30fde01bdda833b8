import type { JobRow } from '../../db/jobs/jobs.ts';
import type { WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { remember } from '../../lib/remember.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { ImageError } from '../images/image-error.ts';
import { imageRootOf, type BaseImage, type Commands } from '../tools/commands.ts';
import { openOutputLog } from '../tools/output-log.ts';
import { isSetupFailure, setupFailed, type Description } from './describe-environment.ts';
import type { EnvironmentCeilings, EnvironmentSettings } from './environment-settings.ts';
import { hasNoManager, installPackages } from './install-packages.ts';
import { failSetup, skipMinutes, skippedText } from './run-setup.ts';

export interface BaseImageDeps {
  commands: Commands;
  ceilings: EnvironmentCeilings;
  events: Pick<WorkerEventStore, 'appendOutput' | 'removeOutput'>;
  secrets: KnownSecrets;
  notify(ref: TurnRef, text: string): Promise<void>;
}

interface Turn {
  ref: TurnRef;
  job: Pick<JobRow, 'projectId'>;
  signal: AbortSignal;
}

interface Described {
  description: Description;
  settings: EnvironmentSettings;
}

/** Provides the image that an environment's setup and commands start from, with its system packages. */
export interface BaseImages {
  /**
   * Returns the image and the packages of an environment, once they are on this worker, with the time that packages took.
   * Without those that a file of another product names, the job continues.
   */
  decide(turn: Turn, described: Described): Promise<{ baseImage: BaseImage; spentMs: number }>;
  /** Installs the packages of a turn again where this worker lacks them, and returns the time that it took. */
  restore(turn: Turn, baseImage: BaseImage, describe: () => Promise<Described>): Promise<number>;
}

export function createBaseImages({ commands, ceilings, events, secrets, notify }: BaseImageDeps): BaseImages {
  const { sandbox, images = null } = commands ?? { sandbox: null };
  /** Installations for files of other products that failed. */
  const failures = new Map<string, { failure: string; atMs: number }>();

  /** Without an image that a file of another product names, the job continues. */
  async function imageOf({ ref, signal }: Turn, { environment, name, isOwn }: Description): Promise<string | null> {
    const { image = null } = environment;
    // pulled now, while the activity has the time for it
    const pull = (wanted: string | null) => imageRootOf(images, wanted, signal);
    try {
      await pull(image);
      return image;
    } catch (error) {
      signal.throwIfAborted();
      if (isOwn || image === null || !(error instanceof ImageError)) throw error;
      await notify(ref, `The job continues without the image of ${name}. ${error.message}`);
      await pull(null);
      return null;
    }
  }

  const restore: BaseImages['restore'] = async ({ ref, signal }, { image, packages }, describe) => {
    if (packages.length === 0) return 0;
    const root = await imageRootOf(images, image, signal);
    if (images !== null && root !== null && (await images.extended(root, packages)) !== null) return 0;
    const { description, settings } = await describe();
    const subject = `The installation of the packages of ${description.name}`;
    if (images === null || root === null || sandbox === null)
      throw setupFailed(`${subject} needs an image. Name one as image in the same description.`);
    const { hosts, seconds } = settings.setup;
    if (hosts.length === 0)
      throw setupFailed(
        `${subject} needs a network. List the hosts that the image gets packages from, such as deb.debian.org, in DOCKET_RUN_HOSTS of the worker, and in hosts.setup.`,
      );
    const startedAt = performance.now();
    await images.extend(root, packages, {
      signal,
      async install(tree, { addedBytes, totalBytes }) {
        await notify(ref, `${subject} started: ${packages.join(', ')}.`);
        await using output = openOutputLog({ events, secrets }, { ...ref, step: null });
        const live = output.watch({ toolCallId: null, heading: `$ packages of ${description.name}\n` });
        // the operator's limits: other projects use the same result, and one that has less may be incomplete
        const limits = { ...ceilings.setup, diskBytes: addedBytes, totalBytes };
        const end = await installPackages(sandbox, {
          jobId: `packages-${root.id}-${packages.join()}`,
          tree,
          packages,
          timeoutMs: seconds * 1_000,
          environment: { root, hosts, limits },
          signal,
          live,
        });
        signal.throwIfAborted();
        if (hasNoManager(end))
          throw setupFailed(`${subject} needs apt-get, which the image lacks. Use an image of Debian or Ubuntu.`);
        const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
        const reasons = {
          timeout: `did not end within ${seconds} seconds (limits.setupSeconds)`,
          memory: `needed more than ${megabytes(limits.memoryBytes)} MB of memory (DOCKET_ENVIRONMENT_MEMORY_MB of the worker)`,
          disk: `made the image larger than ${megabytes(totalBytes)} MB (DOCKET_IMAGE_MB of the worker)`,
        };
        const advice = ' List the hosts of its packages in DOCKET_RUN_HOSTS of the worker, and in hosts.setup.';
        const say = (text: string) => notify(ref, text);
        if (end.exitCode !== 0) await failSetup(end, { subject, reasons, advice, mask: secrets.mask, notify: say });
        const took = (end.durationMs / 1_000).toFixed(1);
        await notify(ref, `${subject} succeeded in ${took} s. The image with them is kept for further jobs.`);
      },
    });
    return performance.now() - startedAt;
  };

  const decide: BaseImages['decide'] = async (turn, described) => {
    const { environment, name, isOwn } = described.description;
    const image = await imageOf(turn, described.description);
    const without = { baseImage: { image, packages: [] }, spentMs: 0 };
    // packages are for the image that they are named with
    if (environment.packages === undefined || image !== (environment.image ?? null)) return without;
    const baseImage = { image, packages: environment.packages };
    const continueWithout = async () => {
      await notify(turn.ref, `The job continues without the packages of ${name}.`);
      return without;
    };
    const { hosts, seconds } = described.settings.setup;
    const key = JSON.stringify([turn.job.projectId, baseImage, hosts, seconds]);
    const earlier = isOwn ? undefined : failures.get(key);
    const agoMs = performance.now() - (earlier?.atMs ?? 0);
    if (earlier !== undefined && agoMs < skipMinutes * 60_000) {
      const subject = `The installation of the packages of ${name}`;
      await notify(turn.ref, skippedText(subject, { ...earlier, agoMs }));
      return continueWithout();
    }
    try {
      return { baseImage, spentMs: await restore(turn, baseImage, () => Promise.resolve(described)) };
    } catch (error) {
      if (isOwn || !isSetupFailure(error)) throw error;
      remember(failures, key, { failure: error.message, atMs: performance.now() });
      return continueWithout();
    }
  };

  return { decide, restore };
}

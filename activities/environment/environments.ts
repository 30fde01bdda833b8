import type { WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { ProjectSecretReader } from '../../db/for-worker/projects/project-secrets.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { takenOver } from '../attempt.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { JobWithProject } from '../job/granted-access.ts';
import { baseOf } from '../job/job-access.ts';
import type { CommandEnvironment } from '../sandbox/command-environment.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import { rootOf, type BaseImage, type Commands } from '../tools/commands.ts';
import { openOutputLog } from '../tools/output-log.ts';
import type { OpenRequest, OpenWorkspace } from '../workspaces/open-workspace.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { describeEnvironment, isSetupFailure, setupFailed, type Description } from './describe-environment.ts';
import { settingsOf, type EnvironmentCeilings, type EnvironmentSettings } from './environment-settings.ts';
import { inspectArchive } from './layer-archive.ts';
import { layerKeyOf } from './layer-key.ts';
import type { StoredLayer } from './layer-files.ts';
import {
  environmentEffect,
  plainEnvironment,
  storedEnvironment,
  type PreparedEnvironment,
} from './prepared-environment.ts';
import { lastLayer, provideLayer, type LayerDeps, type LayerToBuild } from './provide-layer.ts';
import { createBaseImages } from './base-images.ts';
import {
  failSetup,
  hasFilledDisk,
  limitsOfSetup,
  packLayer,
  runSetup,
  skipMinutes,
  skippedText,
  unpackLayer,
  unpackPackageCaches,
} from './run-setup.ts';

export interface EnvironmentDeps extends LayerDeps {
  effects: Pick<EffectStore, 'claim' | 'storeResult'>;
  events: Pick<WorkerEventStore, 'appendNotice' | 'appendOutput' | 'removeOutput'>;
  projectSecrets: ProjectSecretReader;
  workspaces: Pick<Workspaces, 'open' | 'remove' | 'readFirst' | 'listFiles'>;
  commands: Commands;
  ceilings: EnvironmentCeilings;
  secrets: KnownSecrets;
}

interface Turn {
  ref: TurnRef;
  job: JobWithProject;
  repository: RepositoryAccess;
  signal: AbortSignal;
}

/** Largest part of a setup's disk that may hold package caches; above it they hold what nothing needs any more. */
const maxCacheShare = 0.5;

/** A setup that may have to run, with everything that it needs. */
interface Setup extends Turn {
  sandbox: Sandbox;
  description: Description;
  settings: EnvironmentSettings;
  script: string;
  /** Time that packages took, which counts toward the limit of setup. */
  spentMs: number;
  /** The file system that the commands of the job see, too; null for the worker's own programs. */
  root: SandboxRoot | null;
  key: string;
}

export type Environments = ReturnType<typeof createEnvironments>;

/** Sets up where the commands of jobs run. */
export function createEnvironments(deps: EnvironmentDeps) {
  const { effects, events, projectSecrets, workspaces, commands, ceilings, secrets } = deps;
  const sandbox = commands?.sandbox ?? null;

  async function notify({ jobId, turn }: TurnRef, text: string): Promise<void> {
    await events.appendNotice({ jobId, turn, text: secrets.redact(text) });
  }

  const baseImages = createBaseImages({ commands, ceilings, events, secrets, notify });

  /** Decides the environment of a turn, once, and runs its setup unless what it installs is there. */
  const prepare = async (turn: Turn): Promise<PreparedEnvironment> => {
    const effect = { ...turn.ref, effect: environmentEffect };
    const { fence, result } = await effects.claim(effect);
    const stored = storedEnvironment(result);
    if (stored !== null) return stored;
    const environment = await decide(turn);
    if (!(await effects.storeResult({ ...effect, fence, result: environment }))) throw takenOver();
    return environment;
  };

  async function decide(turn: Turn): Promise<PreparedEnvironment> {
    const { ref, job } = turn;
    if (!job.project.mayRun || sandbox === null) return plainEnvironment;
    const description = await describe(turn);
    if (description === null) return plainEnvironment;
    const settings = settingsOf(description.environment, ceilings);
    for (const text of [...description.notices, ...settings.notices]) await notify(ref, text);
    const { check = null, profile = null, start: script } = description.environment;
    const start = script === undefined ? null : { script, isOwn: description.isOwn };
    const { baseImage, spentMs } = await baseImages.decide(turn, { description, settings });
    const environment = { ...settings.agent, ...baseImage, layer: null, start, profile, check };
    const setup = await setupOf(turn, { sandbox, description, settings, baseImage, spentMs });
    if (setup === null) return environment;
    try {
      await provide(setup, description.isOwn ? 0 : skipMinutes * 60_000);
      return { ...environment, layer: setup.key };
    } catch (error) {
      if (description.isOwn || !isSetupFailure(error)) throw error;
      await notify(ref, `The job continues without what the setup of ${description.name} installs.`);
      return environment;
    }
  }

  function describe({ job, repository }: Turn): Promise<Description | null> {
    return describeEnvironment(workspaces, { project: job.project, commit: baseOf(job).commit, access: repository });
  }

  /** Returns the setup of an environment; null without one. */
  async function setupOf(
    turn: Turn,
    wanted: Pick<Setup, 'sandbox' | 'description' | 'settings' | 'spentMs'> & { baseImage: BaseImage },
  ): Promise<Setup | null> {
    const { ref, job, repository } = turn;
    const { sandbox, description, settings, baseImage, spentMs } = wanted;
    const { environment, isOwn, name } = description;
    const { setup: script } = environment;
    if (script === undefined) return null;
    if (!isOwn && settings.setup.hosts.length === 0) {
      await notify(ref, `The setup of ${name} is skipped, because commands reach no network here (DOCKET_RUN_HOSTS).`);
      return null;
    }
    const secretNames = await projectSecrets.names(job.projectId);
    const root = await rootOf(commands?.images ?? null, baseImage, turn.signal);
    const system = { kind: sandbox.kind, imageId: root?.id ?? null };
    const { commit } = baseOf(job);
    const key = await layerKeyOf(workspaces, { environment, secretNames, ...system, commit, access: repository });
    return { ...turn, sandbox, description, settings, script, spentMs, root, key };
  }

  async function provide(setup: Setup, rememberMs: number): Promise<StoredLayer> {
    const { ref, job, key, signal, description } = setup;
    const startedAt = performance.now();
    const layer = await provideLayer(deps, {
      ref: { projectId: job.projectId, key },
      signal,
      build: (folder, claim) => build({ ...setup, signal: claim.signal }, folder, claim),
      failureOf: (error) => (isSetupFailure(error) ? secrets.redact(error.message) : null),
      rememberMs,
    });
    if (layer.source === 'failure') {
      if (!description.isOwn) await notify(ref, skippedText(`The setup of ${description.name}`, layer));
      throw setupFailed(layer.failure);
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const megabytes = Math.ceil(layer.layer.bytes / 2 ** 20);
    const from = { machine: 'from this worker', database: 'from another worker' };
    await notify(
      ref,
      layer.source === 'setup'
        ? `The setup of ${description.name} succeeded in ${seconds} s. The ${megabytes} MB it installed are kept for further jobs.`
        : `The setup of ${description.name} is skipped: the ${megabytes} MB it installed come ${from[layer.source]} (${seconds} s).`,
    );
    return layer;
  }

  /** Runs setup with the package caches of the project, or without them if there is no room. */
  async function build(setup: Setup, folder: string, claim: LayerToBuild): Promise<StoredLayer> {
    const { job, settings, spentMs, signal } = setup;
    const maxBytes = settings.setup.limits.diskBytes * maxCacheShare;
    const last = await lastLayer(deps, { projectId: job.projectId, maxBytes, signal });
    // both attempts together, so that the whole ends within the time of its activity
    const time = { leftMs: Math.max(1, settings.setup.seconds * 1_000 - spentMs) };
    const cached = last === null ? null : await attempt(setup, folder, { last, claim, time });
    const stored = cached ?? (await attempt(setup, folder, { last: null, claim, time }));
    if (stored === null) throw new Error('A setup without package caches cannot be short of room for them.');
    return stored;
  }

  /**
   * Runs setup in a working copy of its own, at the base commit: it has the project's secrets, so nothing that an agent
   * wrote may take part. Returns null if the package caches of the last layer left it too little room.
   */
  async function attempt(
    setup: Setup,
    folder: string,
    { last, claim, time }: { last: StoredLayer | null; claim: LayerToBuild; time: { leftMs: number } },
  ): Promise<StoredLayer | null> {
    const { ref, job, repository, sandbox, root, description, settings, script, key, signal } = setup;
    const jobId = `setup-${job.projectId}-${key}`;
    const values = await projectSecrets.read(job.projectId);
    secrets.learn(job.projectId, Object.values(values));
    const commit = baseOf(job).commit;
    await workspaces.remove(jobId);
    const { limits, seconds } = settings.setup;
    const maxBytes = limits.totalBytes;
    const wanted = { ...repository, jobId, baseCommit: commit, snapshot: null, maxBytes, signal };
    const workspace = await workspaces.open(wanted);
    try {
      const { name } = description;
      const shared = { jobId, workspace, signal };
      if (last !== null) await unpackPackageCaches(sandbox, { ...shared, folder: last.folder, limits });
      const text = `The setup of ${name} started${last === null ? '' : ' with the package caches of the last one'}.`;
      await claim.start({ ...ref, text: secrets.redact(text) });
      const environment = { ...settings.setup, root, variables: { ...settings.agent.variables, ...values } };
      // opened with the secrets known, so that it masks them
      await using output = openOutputLog(deps, { ...ref, step: null });
      const live = output.watch({ toolCallId: null, heading: `$ setup of ${name}\n` });
      const end = await runSetup(sandbox, { ...shared, script, timeoutMs: time.leftMs, environment, live });
      time.leftMs = Math.max(1, time.leftMs - end.durationMs);
      if (last !== null && hasFilledDisk(end)) return null;
      const say = (text: string) => notify(ref, text);
      const failure = { subject: `The setup of ${name}`, reasons: limitsOfSetup(seconds, limits) };
      if (end.exitCode !== 0) await failSetup(end, { ...failure, mask: secrets.mask, notify: say });
      const excluded = await packLayer(sandbox, { ...shared, folder, limits });
      const { bytes, sha256, secret } = await inspectArchive(folder, { secrets: values, signal });
      if (secret !== null) {
        throw setupFailed(
          `The setup of ${name} left the secret ${secret} in a file, where the agent could read it. Remove it at the end of the setup.`,
        );
      }
      return { folder, layer: { bytes, sha256, excluded } };
    } finally {
      await workspace.release();
      await workspaces.remove(jobId);
    }
  }

  /** Opens a job's working copy with what the setup of its environment installed. */
  const open = async (
    turn: Turn & { environment: PreparedEnvironment },
    request: OpenRequest,
  ): Promise<OpenWorkspace> => {
    const { environment, job, signal } = turn;
    const layer = sandbox === null ? null : environment.layer;
    const spentMs = sandbox === null ? 0 : await baseImages.restore(turn, environment, () => describedAgain(turn));
    const workspace = await workspaces.open({ ...request, layer, maxBytes: environment.limits?.totalBytes });
    if (workspace.isFilled || sandbox === null || layer === null) return workspace;
    try {
      const { folder, layer: found } = await storedLayer(turn, { sandbox, key: layer, spentMs });
      const limits: CommandEnvironment['limits'] = environment.limits ?? ceilings.setup;
      await unpackLayer(sandbox, { jobId: job.id, workspace, folder, limits, signal });
      await workspace.keepLayer(found.excluded);
      return workspace;
    } catch (error) {
      await workspace.release();
      throw error;
    }
  };

  /** Returns what the turn's setup installed. If it was removed everywhere, setup runs again. */
  async function storedLayer(
    turn: Turn & { environment: PreparedEnvironment },
    { sandbox, key, spentMs }: Pick<Setup, 'sandbox' | 'key' | 'spentMs'>,
  ): Promise<StoredLayer> {
    const found = await deps.layerFiles.find({ projectId: turn.job.projectId, key });
    if (found !== null) return found;
    const again = await describedAgain(turn);
    const setup = await setupOf(turn, {
      ...again,
      sandbox,
      baseImage: turn.environment,
      spentMs,
    });
    if (setup === null) throw descriptionGone();
    // the key of the turn, although a secret may have been added since
    return provide({ ...setup, key }, 0);
  }

  async function describedAgain(turn: Turn): Promise<Pick<Setup, 'description' | 'settings'>> {
    const description = await describe(turn);
    if (description === null) throw descriptionGone();
    return { description, settings: settingsOf(description.environment, ceilings) };
  }

  return { prepare, open };
}

function descriptionGone(): Error {
  return setupFailed('The description of the environment is gone. Retry the job.');
}

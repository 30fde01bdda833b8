import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandEnvironment, SandboxLimits } from '../sandbox/command-environment.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import { SandboxError } from '../sandbox/sandbox-error.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Excess } from '../sandbox/watch.ts';
import { cleanOutput } from '../tools/clean-output.ts';
import type { LiveOutput } from '../tools/live-output.ts';
import type { OpenWorkspace } from '../workspaces/open-workspace.ts';
import { setupFailed } from './describe-environment.ts';
import { archiveName } from './layer-files.ts';

const layerPoint = '/layer';
const homeInArchive = 'home/job';
/** Folders of HOME in which package managers keep what they download. */
const packageCaches = [
  '.bun/install/cache',
  '.cache',
  '.cargo/registry',
  '.gradle/caches',
  '.local/share/pnpm/store',
  '.m2/repository',
  '.npm',
  '.nuget/packages',
  '.yarn/berry/cache',
  'go/pkg/mod',
];
const pathList = 'paths';
/** Exit code of a shell whose program was stopped at the size limit of one file. */
const fileTooLarge = 128 + 25;
/** Time to pack or unpack a layer. */
const packMs = 5 * 60_000;
/** Characters of a setup's output in the failure, and in the job's timeline. */
const lastOutput = { inMessage: 600, inNotice: 4_000 };

export interface SetupRequest {
  /** Identifies the setup, and the user that it runs as. */
  jobId: string;
  workspace: OpenWorkspace;
  script: string;
  /** Time that is left to the script. */
  timeoutMs: number;
  environment: Pick<CommandEnvironment, 'root' | 'variables' | 'path' | 'hosts' | 'limits'>;
  signal: AbortSignal;
  /** Shows the output to people while the script runs. */
  live: LiveOutput;
}

export interface FailedSetup {
  /** What failed, as the subject of a sentence. */
  subject: string;
  /** Sentences about the limits at which it may have been stopped, without their subject. */
  reasons: Record<'timeout' | Excess, string>;
  /** A sentence about hosts that it could not reach. */
  advice?: string;
  mask(text: string): string;
  notify(text: string): Promise<void>;
}

/** Runs a setup script in a working copy. */
export async function runSetup(sandbox: Sandbox, request: SetupRequest): Promise<CommandEnd> {
  const { jobId, workspace, script, timeoutMs, environment, signal, live } = request;
  const end = await sandbox.run({
    jobId,
    tree: workspace.path,
    command: `set -e\n${script}`,
    timeoutMs,
    environment: { ...environment, home: workspace.home },
    onOutput: live.push,
    signal,
  });
  await live.end(end.durationMs);
  return end;
}

/** Ends the job of a setup that failed: tells people the end of its output, and throws `setup_failed` with it. */
export async function failSetup(
  end: CommandEnd,
  { subject, reasons, advice = '', mask, notify }: FailedSetup,
): Promise<never> {
  const { head, tail } = end.output;
  const output = mask(cleanOutput(Buffer.concat([head, tail]))).trimEnd();
  const why = reasonOf(end, reasons);
  const refused = end.notes.map((note) => ` ${note}`).join('') + (end.notes.length > 0 ? advice : '');
  const sentence = (maxLength: number) =>
    `${subject} ${why}.${refused} ${output === '' ? 'It printed nothing.' : `Its last lines:\n${output.slice(-maxLength)}`}`;
  await notify(sentence(lastOutput.inNotice));
  throw setupFailed(sentence(lastOutput.inMessage));
}

/** How long what another product's file names is skipped after it failed. What was made for Docket runs again at once. */
export const skipMinutes = 10;

/** Returns what to say about a setup that is skipped because it failed a while ago. */
export function skippedText(subject: string, { failure, agoMs }: { failure: string; agoMs: number }): string {
  const minutes = Math.round(agoMs / 60_000);
  const ago = minutes === 0 ? 'just now' : `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`;
  return `${subject} is skipped, because it failed ${ago}: after a failure, it does not run for ${skipMinutes} minutes. ${failure}`;
}

/** Reports whether a setup ended because it had written all that it may. */
export function hasFilledDisk({ exitCode, stopped }: CommandEnd): boolean {
  return exitCode === fileTooLarge || stopped === 'disk';
}

/** Returns what to say about a setup that was stopped at one of its limits. */
export function limitsOfSetup(seconds: number, limits: SandboxLimits): FailedSetup['reasons'] {
  const isOwn = limits.diskBytes === limits.totalBytes;
  const setting = isOwn ? 'limits.diskGb' : 'DOCKET_JOB_DISK_MB of the worker';
  return {
    timeout: `did not end within ${seconds} seconds (limits.setupSeconds)`,
    memory: `needed more than ${Math.round(limits.memoryBytes / 2 ** 20)} MB of memory (limits.memoryMb)`,
    disk: `wrote more than ${Math.round((limits.diskBytes / 2 ** 30) * 100) / 100} GB (${setting})`,
  };
}

function reasonOf(end: CommandEnd, reasons: FailedSetup['reasons']): string {
  const stopped = hasFilledDisk(end) ? 'disk' : end.stopped;
  if (stopped === null) return `failed with exit code ${end.exitCode}`;
  return stopped === 'output' ? 'printed more than 64 MB' : reasons[stopped];
}

export interface PackRequest {
  jobId: string;
  workspace: Pick<OpenWorkspace, 'path' | 'home'>;
  /** Folder of this machine for the archive. */
  folder: string;
  /** Limits of what is packed; null for those of the sandbox. */
  limits: CommandEnvironment['limits'] | null;
  signal: AbortSignal;
}

/**
 * Packs HOME and what was added to the tree. It happens in the sandbox: the files are as hostile as the repository, and
 * only the user of the job can read them all. Returns the added paths that the repository does not ignore.
 */
export async function packLayer(
  sandbox: Sandbox,
  request: PackRequest & { workspace: Pick<OpenWorkspace, 'added'> },
): Promise<string[]> {
  const { workspace, folder } = request;
  const { paths, excluded } = await workspace.added();
  const list = paths.map((path) => `tree/${path}\0`).join('');
  await writeFile(join(folder, pathList), Buffer.from(list, 'latin1'));
  const command = `tar -C / -cf ${layerPoint}/${archiveName} ${homeInArchive} --null -T ${layerPoint}/${pathList}`;
  await pack(sandbox, { ...request, command, isReadOnly: false });
  return excluded;
}

/** Adds a layer to a working copy. Files that are there already stay: they belong to the job. */
export async function unpackLayer(sandbox: Sandbox, request: PackRequest): Promise<void> {
  const command = `tar -C / -xf ${layerPoint}/${archiveName} --skip-old-files`;
  await pack(sandbox, { ...request, command, isReadOnly: true });
}

/** Adds only the package caches of a layer to a working copy: another setup needs what it left, not what it installed. */
export async function unpackPackageCaches(sandbox: Sandbox, request: PackRequest): Promise<void> {
  const folders = packageCaches.map((folder) => `-e '${homeInArchive}/${folder}/'`).join(' ');
  const command = `
    found=$(tar -tf ${layerPoint}/${archiveName} | grep -xF ${folders}) || exit 0
    tar -C / -xf ${layerPoint}/${archiveName} --skip-old-files $found`;
  await pack(sandbox, { ...request, command, isReadOnly: true });
}

async function pack(
  sandbox: Sandbox,
  {
    jobId,
    workspace,
    folder,
    limits,
    signal,
    command,
    isReadOnly,
  }: PackRequest & { command: string; isReadOnly: boolean },
): Promise<void> {
  const mounts = [{ source: folder, target: layerPoint, isReadOnly }];
  const environment = {
    home: workspace.home,
    mounts,
    hosts: [],
    // an archive is larger than what it holds, by its headers
    ...(limits === null ? {} : { limits: { ...limits, totalBytes: undefined, diskBytes: 2 * limits.diskBytes } }),
  };
  const tree = workspace.path;
  const end = await sandbox.run({ jobId, tree, command, timeoutMs: packMs, environment, signal });
  if (end.exitCode === 0) return;
  const output = cleanOutput(end.output.tail.length > 0 ? end.output.tail : end.output.head).slice(-500);
  const message = `What the setup installed could not be ${isReadOnly ? 'restored' : 'stored'}: ${output.trim()}`;
  throw isReadOnly ? new SandboxError(message) : setupFailed(message);
}

import { execFile } from 'node:child_process';
import { constants, open as openDescriptor } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { ServerValue } from '../../db/organizations/project-tools.ts';
import type { LayerFiles } from '../environment/layer-files.ts';
import type { PreparedEnvironment } from '../environment/prepared-environment.ts';
import { ImageError } from '../images/image-error.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import { cleanOutput } from '../tools/clean-output.ts';
import { rootOf, type Commands } from '../tools/commands.ts';
import { McpProblem } from './mcp-problem.ts';
import { keepPackages, packagesOf, restorePackages } from './server-packages.ts';
import { shellWord } from '../../lib/shell-word.ts';

/** The job that a server works for. */
export interface ServerJob {
  id: string;
  environment: PreparedEnvironment;
  project: Pick<ProjectRow, 'id' | 'mayRun'>;
}

export interface ServerCommand {
  job: ServerJob;
  /** The program and its arguments. */
  command: readonly string[];
  /** Its environment variables, which may be secret. */
  values: readonly ServerValue[];
  /** Time after which it is stopped. */
  lifeMs: number;
  signal: AbortSignal;
}

/** Dependencies of a server that runs as a command. */
export interface ServerDeps {
  commands: Commands;
  layerFiles: LayerFiles;
}

const execute = promisify(execFile);
const descriptorOf = promisify(openDescriptor);
/** Folder in the sandbox with the pipes of the server. */
const channelPoint = '/.docket-mcp';
/** Time for a server to exit after its standard input was closed. */
const exitMs = 1_000;
/** Last output that is kept, in bytes. */
const maxDetailLength = 64 * 1024;

/** A server that runs as a command, until disposed of. */
export type ServerProcess = Awaited<ReturnType<typeof startServer>>;

/**
 * Starts a server in its own sandbox, with its values, its packages and nothing of the job: no file that an agent
 * may have written takes part in a process with secrets. Throws McpProblem.
 */
export async function startServer(
  { commands, layerFiles }: ServerDeps,
  { job, command, values, lifeMs, signal }: ServerCommand,
) {
  const { limits, run } = job.environment;
  if (!job.project.mayRun) throw new McpProblem('runs as a command, and the agents of this project may run none');
  if (commands === null) throw new McpProblem('runs as a command, and the worker runs none: DOCKET_RUN is off');
  const { sandbox, images = null } = commands;
  if (sandbox === null) throw new McpProblem(`was not started. ${commands.problem.replace(/\.$/, '')}`);
  const root = await rootFor(() => rootOf(images, job.environment, signal));
  const over = new AbortController();
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(commands.directory, 'mcp-'));
  resources.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  const [tree, channel, home] = [join(directory, 'tree'), join(directory, 'channel'), join(directory, 'home')];
  for (const folder of [tree, channel, home]) await mkdir(folder);
  // the user that the command runs as enters it
  await chmod(channel, 0o755);
  const [inPipe, outPipe] = [join(channel, 'in'), join(channel, 'out')];
  await execute('mkfifo', ['-m', '666', inPipe, outPipe]);
  const stdin = resources.adopt(await openPipe(inPipe, 'write'), (socket) => void socket.destroy());
  const stdout = resources.adopt(await openPipe(outPipe, 'read'), (socket) => void socket.destroy());
  const words = command.map(shellWord);
  // another user than that of the job's commands
  const jobId = `${job.id}/mcp`;
  const kind = root === null ? sandbox.kind : `${sandbox.kind}/image-${root.id}`;
  const ref = packagesOf({ projectId: job.project.id, command, kind });
  const packages = { ref, jobId, tree, home, limits, signal };
  const isRestored = await restorePackages(layerFiles, sandbox, packages).catch((cause: unknown) => {
    throw new McpProblem('could not be started', { cause });
  });
  const ended = sandbox
    .run({
      jobId,
      tree,
      command: `exec < ${channelPoint}/in > ${channelPoint}/out && exec ${words.join(' ')}`,
      timeoutMs: lifeMs,
      signal: AbortSignal.any([signal, over.signal]),
      environment: {
        root,
        home,
        mounts: [{ source: channel, target: channelPoint, isReadOnly: true }],
        variables: Object.fromEntries(values.map(({ name, value }) => [name, value])),
        ...(limits === null ? {} : { limits }),
        ...(run === null ? {} : { hosts: run.hosts }),
      },
    })
    .then(problemOfEnd, (cause) => new McpProblem('could not be started', { cause }));
  const end = async () => {
    stdin.destroy();
    await Promise.race([ended, sleep(exitMs, null, { ref: false })]);
    over.abort();
    await ended;
  };
  resources.defer(end);
  const running = resources.move();
  return {
    stdin,
    stdout,
    /** Resolves with the reason once all of its processes have ended; never rejects. */
    ended,
    /** Ends it, and keeps what it downloaded for the next starts. */
    async endAndKeep(whileKeeping: AbortSignal): Promise<void> {
      await end();
      if (!isRestored) await keepPackages(layerFiles, sandbox, { ...packages, values, signal: whileKeeping });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function rootFor(provide: () => Promise<SandboxRoot | null>): Promise<SandboxRoot | null> {
  try {
    return await provide();
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    throw new McpProblem('was not started, because the image of its environment cannot be used', { cause: error });
  }
}

/**
 * Opens a FIFO for reading and writing, whatever it is used for: then it opens without waiting for the server, and has
 * no end of file when the server closes it.
 */
async function openPipe(path: string, use: 'read' | 'write'): Promise<Socket> {
  const fd = await descriptorOf(path, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: use === 'read', writable: use === 'write' });
  return socket.on('error', () => undefined);
}

function problemOfEnd({ exitCode, stopped, output }: CommandEnd): McpProblem {
  const detail = cleanOutput(Buffer.concat([output.head, output.tail]).subarray(-maxDetailLength)).trim();
  return new McpProblem(stopped === null ? `exited with code ${exitCode}` : stopReasons[stopped], { detail });
}

const stopReasons = {
  memory: 'exceeded its memory limit',
  disk: 'exceeded its disk limit',
  timeout: 'exceeded its time limit',
  output: 'wrote too much to its standard error',
};

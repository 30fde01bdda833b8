import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ImageError } from '../activities/images/image-error.ts';
import { openImages } from '../activities/images/images.ts';
import { createPuller, findPuller } from '../activities/images/pull-image.ts';
import { openSandboxHost } from '../activities/sandbox/sandbox-host.ts';
import type { Sandbox } from '../activities/sandbox/sandbox.ts';
import type { CommandImages, Commands } from '../activities/tools/commands.ts';
import type { WorkerConfig } from './config/config.ts';
import { allAuthorities } from './config/extra-authorities.ts';
import type { ImageConfig } from './config/image-config.ts';
import { openOwnFolder } from './own-folder.ts';

const unlimitedMemory =
  'No memory control group can be created here, so the memory of commands is measured every 100 ms instead; see docs/sandbox.md.';
const measuredDisk =
  'DOCKET_JOB_DISK_MB is not set, so the disk use of commands is measured, not limited by the kernel; see docs/sandbox.md.';
const probeMs = 30_000;

interface CommandDeps {
  log: Logger;
  resources: AsyncDisposableStack;
}

/** Opens the sandbox. Without one agents run no commands, and the log says how to enable them. */
export async function openCommands(
  { commands: limits, images, jobDisks, privateHosts, extraAuthorities, workDirectory }: WorkerConfig,
  { log, resources }: CommandDeps,
): Promise<Commands> {
  if (limits === null) return null;
  // not in the work directory, which workers on several machines may share
  const { path: directory } = resources.use(openOwnFolder());
  const { engine, maxSeconds, hosts } = limits;
  const network = hosts.length === 0 ? null : { hosts, privateHosts };
  const authorities = extraAuthorities === null ? null : allAuthorities(extraAuthorities);
  const opened = resources.use(await openSandboxHost({ directory, limits, engine, network, authorities }));
  const common = { maxSeconds, hosts, directory };
  if (opened.sandbox === null) {
    log.warn(opened.problem);
    return { ...opened, ...common };
  }
  if (!opened.sandbox.limitsMemory) log.warn(unlimitedMemory);
  if (jobDisks === null) log.info(measuredDisk);
  const own = await openOwnImages(images, workDirectory);
  const problem = await problemWithStandard(own, { sandbox: opened.sandbox, directory, log });
  if (problem === null) return { ...opened, ...common, images: own };
  log.warn(problem);
  return { sandbox: null, problem, ...common };
}

async function openOwnImages(config: ImageConfig, directory: string): Promise<CommandImages> {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const program = config.program ?? (await findPuller());
  const pull = program === null ? null : createPuller(program, architecture);
  return { ...(await openImages({ ...config, directory, pull, architecture })), standard: config.standard };
}

/** Runs a first command in the worker's own image. Returns why that fails, in one sentence. */
async function problemWithStandard(
  { standard, provide }: CommandImages,
  { sandbox, directory, log }: { sandbox: Sandbox; directory: string; log: Logger },
): Promise<string | null> {
  if (standard === null) return null;
  const tree = join(directory, 'probe-image');
  try {
    log.info({ image: standard }, 'preparing the image of commands');
    const root = await provide(standard, new AbortController().signal);
    await mkdir(tree);
    const signal = AbortSignal.timeout(probeMs);
    const end = await sandbox.run({
      jobId: 'probe',
      tree,
      command: 'exit 0',
      timeoutMs: probeMs,
      signal,
      environment: { root },
    });
    if (end.exitCode === 0) return null;
    return `Commands cannot run here: the shell of the image ${standard} does not start.`;
  } catch (error) {
    log.warn({ err: error }, 'the image of commands cannot be used');
    const reason = error instanceof ImageError ? error.message : 'it did not start; the log of the worker says why.';
    return `Commands cannot run here: ${reason}`;
  }
}

import { execFile } from 'node:child_process';
import { access, constants, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../lib/error-code.ts';
import { sizeOfTree } from '../sandbox/tree.ts';
import type { ImageBudget } from './image-budget.ts';
import { ImageError } from './image-error.ts';
import { extractImage, type ImageArchitecture } from './image-layout.ts';

/** Copies an image from its registry into a folder. */
export type PullImage = (pull: {
  /** With its registry, and a tag or a digest. */
  name: string;
  /** Empty. */
  folder: string;
  budget: ImageBudget;
  limitBytes: number;
  signal: AbortSignal;
}) => Promise<void>;

const execute = promisify(execFile);
/** In the order of preference: skopeo leaves no copy in its own storage. */
const programs = ['skopeo', 'podman', 'docker'] as const;
const folders = ['/usr/bin', '/usr/local/bin', '/bin'];
/** A pull that takes longer is stopped. */
export const maxPullMs = 20 * 60_000;
const everyMs = 1_000;
/** Environment variables that configure the programs; they get no others. */
const passedOn = [
  'PATH',
  'HOME',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'REGISTRY_AUTH_FILE',
  'CONTAINERS_REGISTRIES_CONF',
  'CONTAINERS_STORAGE_CONF',
  'DOCKER_CONFIG',
  'DOCKER_HOST',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];
/** Matches the errors of registries for an image that does not exist, or that may not be read. */
const refusals = /manifest unknown|name unknown|not found|denied|unauthorized|forbidden|invalid reference/i;

/** Finds the program that pulls images: skopeo, podman or docker. Null if there is none. */
export async function findPuller(): Promise<string | null> {
  for (const program of programs)
    for (const folder of folders) if (await isProgram(join(folder, program))) return join(folder, program);
  return null;
}

/** Creates the function that pulls images with a program. */
export function createPuller(program: string, architecture: ImageArchitecture): PullImage {
  return async ({ name, folder, budget, limitBytes, signal }) => {
    const saved = join(folder, 'saved.tar');
    const blobs = join(folder, 'scratch');
    await mkdir(blobs);
    const env = Object.fromEntries(
      passedOn.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
    );
    const runtime = basename(program) === 'skopeo' && (await isClosedToUs(env)) ? { XDG_RUNTIME_DIR: blobs } : {};
    const options = { env: { ...env, TMPDIR: blobs, ...runtime }, maxBuffer: 1 << 20 };
    const stop = new AbortController();
    const timer = setInterval(() => {
      void sizeOfTree(folder, { enoughBytes: limitBytes }).then((size) => {
        if (size >= limitBytes) stop.abort(tooLarge);
      });
    }, everyMs);
    const stopped = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(maxPullMs)]);
    try {
      for (const args of stepsOf({ program: basename(program), name, folder, saved, architecture })) {
        // ends with the worker, and writes no file beyond the limit
        const guard = ['--pdeathsig', 'KILL', 'prlimit', `--fsize=${limitBytes}`, '--', program];
        await execute('setpriv', [...guard, ...args], { ...options, signal: stopped, killSignal: 'SIGKILL' });
      }
      await rm(blobs, { recursive: true, force: true });
      if (basename(program) === 'docker') await extractImage(saved, folder, { budget, signal: stopped });
      await rm(saved, { force: true });
    } catch (cause) {
      signal.throwIfAborted();
      if (stop.signal.aborted) throw tooLarge;
      if (cause instanceof ImageError) throw cause;
      if (stopped.aborted) throw new ImageError('unavailable', `The image ${name} was not pulled within 20 minutes.`);
      throw pullFailure(name, cause);
    } finally {
      clearInterval(timer);
    }
  };
}

/**
 * Reports whether skopeo would fail because only root may enter the folder in which it looks for credentials. Either
 * variable makes it look elsewhere.
 */
async function isClosedToUs(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env['XDG_RUNTIME_DIR'] !== undefined || env['REGISTRY_AUTH_FILE'] !== undefined) return false;
  return access(`/run/containers/${process.getuid?.()}/auth.json`).then(
    () => false,
    (error: unknown) => codeOf(error) === 'EACCES',
  );
}

const tooLarge = new ImageError(
  'refused',
  'The image is larger than DOCKET_IMAGE_MB. Use a smaller one, or raise the limit.',
);

interface PullSteps {
  program: string;
  name: string;
  folder: string;
  saved: string;
  architecture: ImageArchitecture;
}

function stepsOf({ program, name, folder, saved, architecture }: PullSteps): string[][] {
  const platform = ['--override-os', 'linux', '--override-arch', architecture];
  if (program === 'skopeo') return [[...platform, 'copy', '--quiet', `docker://${name}`, `oci:${folder}:image`]];
  if (program === 'podman')
    return [
      ['pull', '--quiet', name],
      ['save', '--quiet', '--format', 'oci-dir', '--output', folder, name],
    ];
  return [
    ['pull', '--quiet', name],
    ['save', '--output', saved, name],
  ];
}

function pullFailure(name: string, cause: unknown): ImageError {
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
  if (refusals.test(said)) {
    const message = `The image ${name} does not exist, or this worker may not pull it. Check its name and the registry's credentials.`;
    return new ImageError('refused', message, { cause });
  }
  return new ImageError('unavailable', `The image ${name} could not be pulled. The worker's log says why.`, { cause });
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

/** The folder whose `index.ts` exports the workflows. */
const workflowsDirectory = join(import.meta.dirname, '../workflows');

const moduleCache = join(import.meta.dirname, '../node_modules/.cache/docket');
const builder = join(import.meta.dirname, 'build-bundle.ts');

/** The bundle of the current workflow code could not be built. */
class BundleError extends Error {
  override name = 'BundleError';
}

export interface WorkflowBundleOptions {
  /** Directory for the bundle when `node_modules` cannot be written. */
  directory?: string;
  /** The failure converter of the worker's or replayer's data converter; each bundle includes one. */
  failureConverterPath?: string;
}

/**
 * Returns the path of the bundle of the current workflow code, built once per content. Building takes a second of CPU
 * and much memory, so a child process does it.
 */
export async function prepareWorkflowBundle(options: WorkflowBundleOptions = {}): Promise<string> {
  const { directory, failureConverterPath } = options;
  const name = `workflows-${await hashOfSources(failureConverterPath)}.cjs`;
  const folders = [moduleCache, ...(directory === undefined ? [] : [directory])];
  for (const folder of folders) {
    if (existsSync(join(folder, name))) return join(folder, name);
  }
  const failures: unknown[] = [];
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await build(join(folder, name), failureConverterPath);
      return join(folder, name);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new BundleError('The workflow bundle could not be built.', { cause: new AggregateError(failures) });
}

async function hashOfSources(failureConverterPath: string | undefined): Promise<string> {
  const hash = createHash('sha256').update(versionOfWorker()).update(process.versions.node);
  const add = (name: string, content: Buffer) => hash.update(`\0${name}\0${content.length}\0`).update(content);
  const files = await readdir(workflowsDirectory, { recursive: true });
  for (const file of files.filter((file) => file.endsWith('.ts')).sort()) {
    add(file, await readFile(join(workflowsDirectory, file)));
  }
  if (failureConverterPath !== undefined) add(basename(failureConverterPath), await readFile(failureConverterPath));
  return hash.digest('hex').slice(0, 24);
}

function versionOfWorker(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('@temporalio/worker/package.json');
  return version;
}

function build(target: string, failureConverterPath: string | undefined): Promise<void> {
  const args = [builder, target, ...(failureConverterPath === undefined ? [] : [failureConverterPath])];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said: Buffer[] = [];
    child.stderr.on('data', (part: Buffer) => said.push(part));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new BundleError(Buffer.concat(said).toString('utf8').slice(-4_000)));
    });
  });
}

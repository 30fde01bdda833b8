import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The folder whose `index.ts` exports the workflows. */
export const workflowsDirectory = join(import.meta.dirname, '../workflows');

const moduleCache = join(import.meta.dirname, '../node_modules/.cache/docket');
const builder = join(import.meta.dirname, 'build-bundle.ts');

/** The bundle of today's workflow code could not be made. */
export class BundleError extends Error {
  override name = 'BundleError';
}

/**
 * Path of the bundle of today's workflow code, built once per content. Building takes a second of CPU and much memory,
 * so a child process does it. `directory` stands in where `node_modules` cannot be written.
 */
export async function prepareWorkflowBundle({ directory }: { directory?: string } = {}): Promise<string> {
  const name = `workflows-${await hashOfSources()}.cjs`;
  const folders = [moduleCache, ...(directory === undefined ? [] : [directory])];
  for (const folder of folders) {
    if (await exists(join(folder, name))) return join(folder, name);
  }
  const failures: unknown[] = [];
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await build(join(folder, name));
      return join(folder, name);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new BundleError('The workflow code could not be bundled.', { cause: new AggregateError(failures) });
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(versionOfWorker()).update(process.versions.node);
  const files = await readdir(workflowsDirectory, { recursive: true });
  for (const file of files.filter((file) => file.endsWith('.ts')).sort()) {
    const content = await readFile(join(workflowsDirectory, file));
    hash.update(`\0${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 24);
}

function versionOfWorker(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('@temporalio/worker/package.json');
  return version;
}

function build(target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [builder, target], { stdio: ['ignore', 'ignore', 'pipe'] });
    const said: Buffer[] = [];
    child.stderr.on('data', (part: Buffer) => said.push(part));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new BundleError(Buffer.concat(said).toString('utf8').slice(-4_000)));
    });
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openPromise } from 'yauzl';
import { downloadFile, type DownloadContext } from './download.ts';
import { goToolchain, pinnedPlatform } from './pinned-downloads.ts';
import { messageOf, StartError } from '../start-error.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

const usualProxies = 'https://proxy.golang.org,direct';

/**
 * Unpacks Go's own toolchain, which is a regular module, into a folder and returns the path of its `go`. Throws
 * StartError with a clause when no module proxy has it or its files do not match Go's checksum database.
 */
export async function fetchGoToolchain(folder: string, context: DownloadContext): Promise<string> {
  const { env, log } = context;
  const platform = pinnedPlatform();
  const version = `v0.0.1-go${goToolchain.version}.${platform}`;
  const archive = join(folder, 'toolchain.zip');
  log(`Downloading Go ${goToolchain.version} from the Go module proxy (72 MB, usually less than a minute)`);
  await downloadFromProxies(await proxiesOf(env), version, { ...context, target: archive, title: 'Go' });
  const root = join(folder, 'go');
  log('Unpacking and checking Go (usually less than a minute)');
  const found = await unpack(archive, { prefix: `golang.org/toolchain@${version}/`, root });
  await rm(archive);
  if (found !== goToolchain.hashes[platform]) {
    await rm(root, { recursive: true, force: true });
    throw new StartError(`the module proxy returned Go ${goToolchain.version} with a wrong checksum`);
  }
  return join(root, 'bin/go');
}

async function downloadFromProxies(
  proxies: readonly string[],
  version: string,
  options: Parameters<typeof downloadFile>[1],
): Promise<void> {
  const reasons: string[] = [];
  for (const proxy of proxies) {
    try {
      await downloadFile(`${proxy}/golang.org/toolchain/@v/${version}.zip`, options);
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      reasons.push(messageOf(error));
    }
  }
  throw new StartError(reasons.length === 0 ? 'GOPROXY names no module proxy' : reasons.join('; '));
}

/** Returns the HTTP proxies that `GOPROXY` names, from the environment, from `go env -w`, or from Go's default. */
export async function proxiesOf(env: NodeJS.ProcessEnv): Promise<string[]> {
  const home = env['HOME'] || homedir();
  const folder =
    process.platform === 'darwin'
      ? join(home, 'Library/Application Support')
      : env['XDG_CONFIG_HOME'] || join(home, '.config');
  const settings = await readFile(env['GOENV'] || join(folder, 'go/env'), 'utf8').catch(() => '');
  const named = env['GOPROXY'] || /^GOPROXY=(.+)$/m.exec(settings)?.[1] || usualProxies;
  return named
    .split(/[,|]/)
    .map((entry) => trimEndSlashes(entry.trim()))
    .filter((entry) => /^https?:/.test(entry));
}

/**
 * Unpacks an archive and returns the hash of all files in go.sum's format. Do not run unpacked files before that hash
 * is verified.
 */
async function unpack(archive: string, { prefix, root }: { prefix: string; root: string }): Promise<string> {
  const sums: string[] = [];
  const zip = await openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    const { fileName } = entry;
    if (!fileName.startsWith(prefix)) throw new StartError(`the module of Go holds ${fileName}`);
    const name = fileName.slice(prefix.length);
    // a module cannot contain another one, so the go.mod files of nested modules are renamed in the archive
    const path = join(root, name.replace(/(^|\/)_go\.mod$/, '$1go.mod'));
    const content = await buffer(await zip.openReadStreamPromise(entry));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { mode: isCommand(name) ? 0o755 : 0o644 });
    sums.push(`${fileName}\n${createHash('sha256').update(content).digest('hex')}`);
  }
  const lines = sums.sort().map((line) => line.split('\n').reverse().join('  '));
  return `h1:${createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('base64')}`;
}

/** Reports whether a file must be executable. The archive of a module stores no file modes. */
function isCommand(name: string): boolean {
  return /^(bin|pkg\/tool\/[^/]+)\/[^/]+$/.test(name);
}

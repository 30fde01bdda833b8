import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The only transports that git may use. `file` is a path on this machine; `http` is for a server on loopback. */
export type Transport = 'https' | 'http' | 'file' | 'ssh';

/** Replaces the machine's and the user's configuration; nothing here depends on a repository. */
const config = `[core]
  hooksPath = /dev/null
  fsmonitor = false
  attributesFile = /dev/null
  excludesFile = /dev/null
  autocrlf = false
  safecrlf = false
  fileMode = true
  symlinks = true
  ignoreCase = false
  precomposeUnicode = false
  protectHFS = true
  protectNTFS = true
  untrackedCache = false
  splitIndex = false
  quotePath = true
  commentChar = "#"
  packedGitWindowSize = 64m
  packedGitLimit = 512m
[safe]
  directory = *
  bareRepository = explicit
[protocol]
  allow = never
  version = 2
[http]
  followRedirects = false
  proxy =
  lowSpeedLimit = 100
  lowSpeedTime = 30
[credential]
  helper =
[submodule]
  recurse = false
[fetch]
  recurseSubmodules = false
  unpackLimit = 1
  writeCommitGraph = false
[push]
  recurseSubmodules = no
  followTags = false
  gpgSign = false
[commit]
  gpgSign = false
[gc]
  auto = 0
[maintenance]
  auto = false
[pack]
  threads = 2
  windowMemory = 256m
[advice]
  detachedHead = false
`;

/** Overrides for the serving end of a local path. It would otherwise run that repository's own hooks and commands. */
const localServer =
  'git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand= -c receive.autogc=false -c gc.auto=0';

/** Commands that serve a repository on this machine, for `--upload-pack` and `--receive-pack`. */
export const localUploadPack = `${localServer} upload-pack`;
export const localReceivePack = `${localServer} receive-pack`;

/**
 * Writes git's home directory, whose configuration file replaces all others. `authorities` are the CA certificates in
 * PEM; null uses those of the machine. Safe to run in several processes at once.
 */
export async function prepareHome(home: string, { authorities }: { authorities: string | null }): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const file = join(home, 'authorities.pem');
  if (authorities !== null) await replaceFile(file, authorities);
  const trust = authorities === null ? '' : `[http]\n  sslCAInfo = ${JSON.stringify(file)}\n`;
  await replaceFile(join(home, 'gitconfig'), `${config}${trust}`);
}

async function replaceFile(file: string, text: string): Promise<void> {
  const half = `${file}.${randomUUID()}`;
  await writeFile(half, text, { mode: 0o600 });
  await rename(half, file);
}

const usualFolders =
  '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin:/opt/local/bin'.split(delimiter);
/** A relative folder could be one of a repository. */
const foldersOfWorker = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);

/** Search path for the worker's own programs: the usual folders, then those of its `PATH`. */
export const programPath = [...new Set([...usualFolders, ...foldersOfWorker])].join(delimiter);

/** Returns the complete environment of a trusted git process, which inherits nothing from the worker. */
export function gitEnvironment({
  home,
  transports,
}: {
  home: string;
  transports: readonly Transport[];
}): Record<string, string> {
  return {
    PATH: programPath,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: transports.length === 0 ? 'none' : transports.join(':'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
  };
}

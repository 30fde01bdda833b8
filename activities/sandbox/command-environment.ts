import type { SandboxRoot } from './sandbox-root.ts';
import { shellWord } from '../../lib/shell-word.ts';

/** Resources that a command may use. */
export interface SandboxLimits {
  /** Total for all its processes. */
  memoryBytes: number;
  /** Includes threads. */
  processes: number;
  /** Processors of the machine that they share; all that the worker has if absent. */
  cpus?: number | undefined;
  /** Bytes it may add to the folders that it can write, and the capacity of `/tmp`. */
  diskBytes: number;
  /** Bytes that those folders may hold in total, whichever command wrote them; no limit if absent. */
  totalBytes?: number;
}

/** A folder of the worker's machine that a command sees at `target`. */
interface Mount {
  source: string;
  target: string;
  isReadOnly: boolean;
}

/** Environment of a command besides its working copy. Plain data, so that each kind of sandbox can provide it. */
export interface CommandEnvironment {
  /** File system that the command sees instead of the machine's programs; null for the machine's. */
  root: SandboxRoot | null;
  /** Folder of the machine that is HOME, and keeps what commands write there; null for one that is empty each time. */
  home: string | null;
  mounts: readonly Mount[];
  /** Environment variables. Values may be secret: no argument list and no file of the machine contains them. */
  variables: Readonly<Record<string, string>>;
  /** Absolute folders inside the sandbox that precede its own PATH. */
  path: readonly string[];
  /** Hosts that the command may reach, among those of the sandbox; empty for none. */
  hosts: readonly string[];
  limits: SandboxLimits;
  /** Whether the tree is a copy of `root` that the command installs packages in, as a root without power over anything else. */
  isInstaller: boolean;
}

/** Where commands see the tree. */
export const treePoint = '/tree';
/** HOME of commands whose environment has one. */
export const homePoint = '/home/job';

/** Returns the folders that a command can write and keep. */
export function writableFolders(tree: string, { home, mounts }: Pick<CommandEnvironment, 'home' | 'mounts'>): string[] {
  const mounted = mounts.filter(({ isReadOnly }) => !isReadOnly).map(({ source }) => source);
  return [tree, ...(home === null ? [] : [home]), ...mounted];
}

/** Returns shell text that exports the variables. */
export function exportsOf(variables: CommandEnvironment['variables']): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name) || value.includes('\0')) throw new TypeError('A variable cannot be exported.');
      return `export ${name}=${shellWord(value)}\n`;
    })
    .join('');
}

import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLimits } from './command-environment.ts';
import { engineNames, uidOfJob, type EngineName } from './engine.ts';
import { inspectMachine, NoSandboxError } from './machine.ts';
import type { SandboxNetwork } from './network.ts';
import { usualUid } from './profile.ts';
import { SandboxError } from './sandbox-error.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';

/** The sandbox of this machine, or a sentence that explains why there is none and what to do about it. */
export type OpenedSandbox = { sandbox: Sandbox; problem: null } | { sandbox: null; problem: string };

export interface OpenOptions {
  /** Used by this process only. */
  directory: string;
  limits: SandboxLimits;
  /** bubblewrap if absent. */
  engine?: EngineName;
  /** Without it, commands reach only their own loopback. */
  network?: SandboxNetwork | null;
  /** PEM certificates that commands use to verify peers; null leaves the choice to the machine. */
  authorities?: string | null;
}

const probeMs = 20_000;
/**
 * Checks of the sandbox's guarantees; each line that exits can fail the probe. It starts only the programs that it
 * needs: on a busy machine each takes as long as the rest.
 */
const probeOf = (uid: number) => `
while IFS=': \t' read -r name value rest; do
  case $name in Uid) uids="$value $rest" ;; CapEff) capabilities=$value ;; Seccomp) seccomp=$value ;; NoNewPrivs) locked=$value ;; esac
done < /proc/self/status
[ "$uids" = "${uid} ${uid}\t${uid}\t${uid}" ] || exit 11
[ "$capabilities" = 0000000000000000 ] || exit 12
[ "$seccomp" = 2 ] || exit 13
[ "$locked" = 1 ] || exit 14
devices=$({ read -r head; read -r head; while IFS=': ' read -r device rest; do echo "$device"; done; } < /proc/net/dev)
[ "$devices" = lo ] || exit 15
! (: > /usr/docket-probe) 2>/dev/null || exit 16
! unshare --user true 2>/dev/null || exit 17
echo contained > probe`;

/**
 * Creates the sandbox and runs a first command in it that checks its isolation. If the sandbox does not come up or a
 * check fails, there is no sandbox.
 */
export async function openSandbox(options: OpenOptions): Promise<OpenedSandbox> {
  const { directory, limits, engine = engineNames[0], network = null, authorities = null } = options;
  try {
    const machine = await inspectMachine(engine);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const sandbox = await createSandbox({ directory, limits, network, authorities, machine });
    const tree = await mkdtemp(join(directory, 'probe-'));
    try {
      const signal = AbortSignal.timeout(probeMs);
      // a container of root has no user namespace, so its user has the id that the machine knows
      const uid = engine === 'podman' && machine.root !== null ? uidOfJob(machine.root.uids, 'probe') : usualUid;
      const end = await sandbox.run({ jobId: 'probe', tree, command: probeOf(uid), timeoutMs: probeMs, signal });
      const written = await readFile(join(tree, 'probe'), 'utf8').catch(() => '');
      if (end.exitCode !== 0 || written !== 'contained\n') {
        throw new NoSandboxError(`the sandbox of this machine does not hold (${end.exitCode ?? end.stopped})`);
      }
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
    return { sandbox, problem: null };
  } catch (error) {
    return { sandbox: null, problem: problemOf(error, engine) };
  }
}

function problemOf(error: unknown, engine: EngineName): string {
  if (error instanceof NoSandboxError) return `${sentence} ${error.message}.`;
  const reason = error instanceof SandboxError ? error.message : '';
  if (engine === 'podman') return `${sentence} podman did not start a container. ${lastLine(reason)}`;
  if (/userns|user namespace|uid map|Operation not permitted|Permission denied|No space left|proc/i.test(reason)) {
    return `${sentence} this system does not let the worker create user namespaces; allow them (see docs/sandbox.md).`;
  }
  return `${sentence} bubblewrap did not start; run "bwrap --unshare-all --ro-bind / / true" to see why.`;
}

/** Returns the last line of what podman said, as a sentence. */
function lastLine(reason: string): string {
  const line = reason.trim().split('\n').at(-1) ?? '';
  return line === ''
    ? `A first command did not end within ${probeMs / 1_000} s.`
    : line.replace(/^Error: /, '').replace(/\.?$/, '.');
}

const sentence = 'Commands cannot run here:';

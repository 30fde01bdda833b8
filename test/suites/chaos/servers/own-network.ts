import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../../../..');
const exitWithParent = pathToFileURL(join(checkout, 'local/processes/exit-with-parent.ts')).href;

const programs = { unshare: 'util-linux', nsenter: 'util-linux', ip: 'iproute2', ss: 'iproute2', tc: 'iproute2' };
/** Where an ordinary account does not look for programs. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
const marker = 'DOCKET_CHAOS_OWN_NETWORK';

/** Rules of a wire come before the table of local addresses, which is the first one otherwise. */
export const localTablePreference = 1_000;

const prepare = [
  'ip link set lo up',
  `ip rule add pref ${localTablePreference} lookup local`,
  'ip rule del pref 0',
  'exec "$@"',
].join(' && ');

/** Whether this process was started by `runInOwnNetwork`. */
export function hasOwnNetwork(): boolean {
  return process.env[marker] === '1';
}

/** Why no network namespaces can be created here, in one sentence, or null. */
export async function problemWithNetworks(): Promise<string | null> {
  if (process.platform !== 'linux') return 'Networks can only be cut on Linux: they are network namespaces.';
  for (const [program, packageName] of Object.entries(programs)) {
    // an option that only asks for the version
    const isThere = await execute(program, ['-V'], { env }).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (!isThere) return `The program "${program}" is missing: install the package ${packageName}.`;
  }
  try {
    const [command, ...args] = unshared(['true']);
    await execute(command, args, { env });
    return null;
  } catch (error) {
    const said = error instanceof Error ? error.message.split('\n').at(1) : '';
    return `No network namespace can be made here (${said}): run it as root, or allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0).`;
  }
}

/**
 * Restarts a suite in its own network, in which it can create further ones; nothing that it does there is visible
 * outside, and nothing is left when it ends, however it ends. Returns its exit code.
 */
export async function runInOwnNetwork(suite: string, args: string[]): Promise<number> {
  const program = [
    process.execPath,
    '--import',
    exitWithParent,
    join(import.meta.dirname, '../main.ts'),
    suite,
    ...args,
  ];
  const [command, ...rest] = unshared(program);
  const own = { ...env, [marker]: '1', DOCKET_SUPERVISOR_PID: String(process.pid) };
  const child = spawn(command, rest, { env: own, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Replaces the process, so that no program runs between it and its parent. */
function unshared(program: string[]): [string, ...string[]] {
  const account = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
  return ['unshare', ...account, '--net', 'sh', '-c', prepare, 'sh', ...program];
}

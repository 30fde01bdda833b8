import { shellWord } from '../../lib/shell-word.ts';
import type { CommandEnvironment } from '../sandbox/command-environment.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import type { LiveOutput } from '../tools/live-output.ts';

/** Exit code of the script in an image that has no package manager that it knows. */
const noManagerCode = 90;

/**
 * Installs packages with the `apt-get` of an image. An index that cannot be updated is an error, because other
 * projects use the same result. `policy-rc.d` keeps services from starting, and `Pattern-Only` keeps a name that does
 * not exist from being read as a regular expression.
 */
const script = (words: string) => `set -e
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
command -v apt-get > /dev/null || exit ${noManagerCode}
# images that were unpacked by earlier versions have no accounts
for file in passwd group; do [ -s /etc/$file ] || cp /usr/share/base-passwd/$file.master /etc/$file; done
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
mkdir -p /run/lock
get() {
  apt-get -q -y -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o APT::Cmd::Pattern-Only=true \\
    -o APT::Install-Recommends=false -o Acquire::Retries=2 -o Acquire::Languages=none -o Dpkg::Use-Pty=0 \\
    \${SSL_CERT_FILE:+-o Acquire::https::CAInfo="$SSL_CERT_FILE"} "$@"
}
get update
get install ${words}
get clean
rm -rf /var/lib/apt/lists/*`;

export interface PackageInstall {
  /** Identifies the user that it runs as. */
  jobId: string;
  /** Copy of the image that the packages are added to. */
  tree: string;
  packages: readonly string[];
  timeoutMs: number;
  environment: Pick<CommandEnvironment, 'hosts' | 'limits'> & { root: SandboxRoot };
  signal: AbortSignal;
  live: LiveOutput;
}

/** Installs packages. Nothing of the project takes part but their names: other projects use the same result. */
export async function installPackages(
  sandbox: Sandbox,
  { packages, live, ...call }: PackageInstall,
): Promise<CommandEnd> {
  const end = await sandbox.run({
    ...call,
    command: script(packages.map(shellWord).join(' ')),
    environment: { ...call.environment, isInstaller: true },
    onOutput: live.push,
  });
  await live.end(end.durationMs);
  return end;
}

/** Reports whether the image has no apt-get. */
export function hasNoManager({ exitCode }: CommandEnd): boolean {
  return exitCode === noManagerCode;
}

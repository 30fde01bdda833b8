import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { installPackages } from '../../../activities/environment/install-packages.ts';
import { openImages } from '../../../activities/images/images.ts';
import { startedCommand } from '../../../activities/tools/started-command.ts';
import { parseEnvironment, type Environment } from '../../../lib/environments/environment.ts';
import { architectureOfImages, writeImage } from '../../support/sandbox/oci-image.ts';
import { accountsWithSandbox, openTestSandbox, testLimits } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const execute = promisify(execFile);
const { accounts } = await accountsWithSandbox();
const hosts = ['deb.debian.org', 'security.debian.org'];
const { signal } = new AbortController();

/** Packs a small Debian from its mirror; null where that is not possible. */
async function packDebian(directory: string): Promise<Buffer | null> {
  const archive = join(directory, 'base.tar');
  const made = await execute('mmdebstrap', ['--mode=chrootless', '--variant=minbase', 'bookworm', archive]).catch(
    () => null,
  );
  return made && (await readFile(archive));
}

const roomy = { ...testLimits, diskBytes: 200 << 20 };

/** Returns the environments with services that the documentation shows. */
async function examplesOfServices(): Promise<Environment[]> {
  const docs = await readFile(join(import.meta.dirname, '../../../docs/environments.md'), 'utf8');
  const [, section = ''] = docs.split(/^## Services$/m);
  const blocks = [...section.split(/^## /m)[0]!.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) =>
    parseEnvironment(text!),
  );
  const environments = blocks.flatMap((parsed) => (parsed.ok ? [parsed.environment] : []));
  expect(environments.map(({ packages }) => packages)).toEqual([['postgresql'], ['redis-server']]);
  return environments;
}

const canPack = await execute('mmdebstrap', ['--version']).catch(() => null);

describe.runIf(accounts.length > 0 && canPack !== null && process.getuid?.() === 0)('Debian', { tags: 'slow' }, () => {
  it('installs packages that make users and services', { timeout: 900_000 }, async (test) => {
    const directory = temporaryDirectory();
    const layer = await packDebian(directory);
    if (layer === null) return test.skip('No mirror of Debian is reachable.');
    const archives = join(directory, 'archives');
    await mkdir(archives);
    await writeImage(join(archives, 'debian.tar'), { layers: [layer], isCompressed: false });
    const limits = { bytes: 2e9, entries: 100_000 };
    const images = await openImages({
      directory: join(directory, 'work'),
      allowed: [{ kind: 'prefix', prefix: 'oci-archive:' }],
      archives,
      pull: null,
      architecture: architectureOfImages,
      limits,
      totalBytes: 8e9,
    });
    const root = await images.provide('oci-archive:debian.tar', signal);

    const install = (packages: string[], reached: string[]) =>
      images.extend(root, packages, {
        signal,
        async install(tree, { addedBytes, totalBytes }) {
          await using sandbox = await openTestSandbox('owner', {
            tree,
            network: { hosts: reached, privateHosts: reached },
          });
          const run = ({
            command,
            timeoutMs,
            environment,
          }: {
            command: string;
            timeoutMs: number;
            environment?: object;
          }) => sandbox.run(command, { timeoutMs, environment });
          const own = { ...testLimits, memoryBytes: 2e9, processes: 512, diskBytes: addedBytes, totalBytes };
          const environment = { root, hosts: reached, limits: own };
          const live = { push() {}, end: () => Promise.resolve() };
          const call = { jobId: '', tree, packages, timeoutMs: 300_000, environment, signal, live };
          const end = await installPackages({ kind: '', limitsMemory: false, run }, call);
          if (end.exitCode !== 0) throw new Error(`${end.notes.join(' ')} ${end.output.tail}${end.output.head}`);
        },
      });

    // without the security updates, it would install what they replace
    await expect(install(['libpq-dev'], ['deb.debian.org'])).rejects.toThrow('does not reach security.debian.org:80:');
    // an expression that another package's name fits
    await expect(install(['libpq.dev'], hosts)).rejects.toThrow('Unable to locate package libpq.dev');
    const made = await install(['libpq-dev', 'cron', 'redis-server', 'postgresql'], hosts);
    await using sandbox = await openTestSandbox('owner', { root: made });
    const seen = await sandbox.output(
      'pg_config --version; redis-server --version; id -u; dpkg -s cron; apt-get update 2>&1; true',
    );
    expect(seen).toMatch(/^PostgreSQL 15[^]*Redis server v=[^]*^1000$[^]*Status: install ok installed/m);
    expect(seen).toMatch(/Permission denied|Read-only file system/);

    for (const { start = '', setup = 'true', check = '', path = [], variables = {} } of await examplesOfServices()) {
      const environment = { home: await sandbox.folder(check.slice(0, 4)), path, variables, limits: roomy };
      await sandbox.output(`set -e\n${setup}`, 0, { environment });
      const command = check.replace(
        "'select 1'",
        `'create table if not exists lamp (id int); insert into lamp values (7)'`,
      );
      // each but the last one is killed
      for (const text of [command, command, check])
        await sandbox.output(startedCommand({ script: start, isOwn: true }, { command: text, timeoutMs: 60_000 }), 0, {
          environment,
        });
    }
  });
});

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { simpleGit } from 'simple-git';
import { buildGoProgram } from '../../../local/temporal/go-program.ts';
import { findTemporalBinary } from '../../../local/temporal/temporal-binary.ts';

/**
 * The images that `docker-compose.yml` names, for a machine that reaches no image registry. The service's own image is
 * built of the Dockerfile as it is; the others stand in for the published ones: the same programs, variables and paths,
 * made of Debian's packages and of Temporal's own source. They test our files, not the published images.
 */

const checkout = resolve(import.meta.dirname, '../../..');
const execute = promisify(execFile);
const serverModule = join(checkout, 'test/suites/chaos/temporal-server');
const storage = ['--storage-driver', 'vfs'];
const maxBuffer = 64 * 1024 * 1024;

export const images = {
  node: 'docker.io/library/node:24-bookworm-slim',
  postgres: 'docker.io/library/postgres:18',
  server: 'docker.io/temporalio/server:1.31.2',
  adminTools: 'docker.io/temporalio/admin-tools:1.31.2',
};

async function buildah(...args: string[]): Promise<string> {
  return (await execute('buildah', [...storage, ...args], { maxBuffer })).stdout.trim();
}

async function exists(image: string): Promise<boolean> {
  return buildah('inspect', '--type', 'image', image).then(
    () => true,
    () => false,
  );
}

/** Files at their places in the image, made in a folder first. */
type Files = Record<string, { text: string; isProgram?: boolean } | { copyOf: string }>;

interface Recipe {
  base: string | null;
  files: Files;
  /** Debian packages to install. */
  packages?: string[];
  /** Runs in the image at the end. */
  setUp?: string;
  config: string[];
}

async function make(image: string, { base, files, packages = [], setUp, config }: Recipe): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'docket-image-'));
  const container = await buildah('from', '--pull-never', base ?? 'scratch');
  const run = (command: string) =>
    buildah('run', '--isolation', 'chroot', '--network', 'host', container, '--', '/bin/sh', '-ec', command);
  try {
    for (const [path, file] of Object.entries(files)) {
      const place = join(folder, path);
      await mkdir(dirname(place), { recursive: true });
      if ('copyOf' in file)
        await cp(file.copyOf, place, { recursive: true, dereference: false, verbatimSymlinks: true });
      else await writeFile(place, file.text, { mode: file.isProgram === true ? 0o755 : 0o644 });
    }
    await buildah('copy', container, folder, '/');
    if (packages.length > 0)
      await run(
        `apt-get update -qq && apt-get install -y -qq --no-remove --no-install-recommends ${packages.join(' ')} && rm -rf /var/lib/apt/lists/*`,
      );
    if (setUp !== undefined) await run(setUp);
    await buildah('config', ...config, container);
    await buildah('commit', '--quiet', container, image);
  } finally {
    await buildah('rm', container);
    await rm(folder, { recursive: true, force: true });
  }
}

/** A small Debian with the settings of this machine's package clients. */
async function makeBase(): Promise<string> {
  const image = 'localhost/docket-test-base';
  if (await exists(image)) return image;
  const folder = await mkdtemp(join(tmpdir(), 'docket-base-'));
  try {
    const archive = join(folder, 'base.tar');
    await execute('mmdebstrap', ['--mode=chrootless', '--variant=minbase', 'bookworm', archive], { maxBuffer });
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, archive, '/');
    await buildah('commit', '--quiet', container, image);
    await buildah('rm', container);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return image;
}

async function makeNode(base: string): Promise<void> {
  const npm = dirname(dirname((await execute('readlink', ['-f', '/usr/bin/npm'])).stdout.trim()));
  const machine = [
    '/etc/npmrc',
    '/usr/local/etc/npmrc',
    '/root/.npmrc',
    '/etc/apt/sources.list.d',
    '/etc/apt/apt.conf.d',
  ];
  const present = await Promise.all(
    machine.map((path) =>
      execute('test', ['-e', path]).then(
        () => [path, { copyOf: path }] as const,
        () => null,
      ),
    ),
  );
  await make(images.node, {
    base,
    files: {
      ...Object.fromEntries(present.filter((entry) => entry !== null)),
      '/etc/ssl/certs/ca-certificates.crt': { copyOf: '/etc/ssl/certs/ca-certificates.crt' },
      // the package ca-certificates replaces the file above
      '/etc/machine-authorities.crt': { copyOf: '/etc/ssl/certs/ca-certificates.crt' },
      '/usr/local/bin/node': { copyOf: join(checkout, 'node_modules/node/bin/node') },
      '/usr/local/lib/node_modules/npm': { copyOf: npm },
    },
    setUp:
      'ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm; ln -sf node /usr/local/bin/nodejs; groupadd -g 1000 node; useradd -u 1000 -g 1000 -m node',
    config: [
      '--env=NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt',
      '--env=PIP_CERT=/etc/machine-authorities.crt',
      '--cmd=node',
    ],
  });
}

/** The documented start of the official image: the password, the data folder, scripts for an empty one. */
const postgresEntrypoint = `#!/bin/bash
set -euo pipefail
bin=/usr/lib/postgresql/15/bin
export PATH=$bin:$PATH PGDATA=\${PGDATA:-/var/lib/postgresql/18/docker}
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"; chown -R postgres:postgres /var/lib/postgresql; chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U postgres -A scram-sha-256 --pwfile=<(printf %s "$POSTGRES_PASSWORD") >/dev/null
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  sed -i 's/^local  *all  *all .*/local all all trust/' "$PGDATA/pg_hba.conf"
  pg_ctl -w -o "-c listen_addresses='' -c unix_socket_directories=/tmp" start >/dev/null
  export PGHOST=/tmp
  for script in /docker-entrypoint-initdb.d/*.sh; do . "$script"; done
  pg_ctl -w -m fast stop >/dev/null
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

async function makePostgres(base: string): Promise<void> {
  await make(images.postgres, {
    base,
    files: {
      '/etc/apt/sources.list.d': { copyOf: '/etc/apt/sources.list.d' },
      '/etc/apt/apt.conf.d': { copyOf: '/etc/apt/apt.conf.d' },
      '/usr/local/bin/docker-entrypoint.sh': { text: postgresEntrypoint, isProgram: true },
    },
    packages: ['postgresql-15', 'util-linux'],
    setUp: 'rm -rf /var/lib/postgresql/15',
    config: [
      '--entrypoint=["/usr/local/bin/docker-entrypoint.sh"]',
      '--cmd=postgres',
      '--env=PGHOST=/tmp',
      '--env=PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ],
  });
}

/** A server that listens on every address has to name one to its peers, as the entrypoint of the official image does. */
const temporalEntrypoint = `#!/bin/sh
address=$(getent hosts "$(hostname)" | awk '{print $1; exit}')
export TEMPORAL_BROADCAST_ADDRESS="\${TEMPORAL_BROADCAST_ADDRESS:-$address}"
exec temporal-server start
`;

async function makeTemporal(base: string): Promise<void> {
  const context = { env: process.env, log: (line: string) => console.log(line) };
  const program = (source: string, name: string, title: string) =>
    buildGoProgram({ moduleDirectory: serverModule, duration: 'about 3 minutes', source, name, title }, context);
  const server = await program('go.temporal.io/server/cmd/server', 'temporal-server', "Temporal's server");
  const sql = await program('go.temporal.io/server/cmd/tools/sql', 'temporal-sql-tool', 'its schema tool');
  const cli = await findTemporalBinary(context);
  const files: Files = {
    '/etc/apt/sources.list.d': { copyOf: '/etc/apt/sources.list.d' },
    '/etc/apt/apt.conf.d': { copyOf: '/etc/apt/apt.conf.d' },
  };
  await make(images.server, {
    base,
    files: {
      ...files,
      '/usr/local/bin/temporal-server': { copyOf: server },
      '/etc/temporal/entrypoint.sh': { text: temporalEntrypoint, isProgram: true },
    },
    packages: ['netcat-openbsd'],
    setUp: 'useradd -u 1000 -m temporal',
    config: ['--user', '1000', '--entrypoint', '["/etc/temporal/entrypoint.sh"]'],
  });
  await make(images.adminTools, {
    base,
    files: { '/usr/local/bin/temporal-sql-tool': { copyOf: sql }, '/usr/local/bin/temporal': { copyOf: cli.path } },
    setUp: 'useradd -u 1000 -m temporal',
    config: ['--user', '1000'],
  });
}

/** Builds the missing stand-ins, and the service's own image of a clone of the committed code under each tag. */
export async function buildImages(tags: readonly string[]): Promise<void> {
  const base = await makeBase();
  if (!(await exists(images.node))) await makeNode(base);
  if (!(await exists(images.postgres))) await makePostgres(base);
  if (!(await exists(images.server)) || !(await exists(images.adminTools))) await makeTemporal(base);
  const [first, ...others] = tags;
  if (first === undefined) return;
  const clone = await mkdtemp(join(tmpdir(), 'docket-build-'));
  try {
    await simpleGit().clone(`file://${checkout}`, clone, ['--quiet', '--depth=1']);
    const build = ['bud', '--isolation', 'chroot', '--network', 'host', '--layers=false', '--pull-never'];
    await buildah(...build, '--tag', `localhost/${first}`, clone);
    for (const tag of others) await buildah('tag', `localhost/${first}`, `localhost/${tag}`);
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

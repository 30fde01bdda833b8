import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findTemporalBinary } from '../../../local/temporal-binary.ts';
import { buildTemporal } from '../../../local/temporal-build.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-binary-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

/** An executable that answers `--version` like a Temporal CLI. */
async function fakeCli(path: string, server: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "temporal version 1.2.3 (Server ${server}, UI 2.0.0)"\n`);
  await chmod(path, 0o755);
  return path;
}

function noToolchain(): Promise<string> {
  return Promise.reject(new Error('there is no Go toolchain'));
}

function search(env: NodeJS.ProcessEnv, build = noToolchain) {
  return findTemporalBinary({ env, log: () => {}, downloads: join(folder, 'downloads'), build });
}

describe('the Temporal binary', () => {
  it('is the one that is named, before all others', async () => {
    const named = await fakeCli(join(folder, 'named/cli'), '1.29.4');
    await fakeCli(join(folder, 'path/temporal'), '1.31.0');
    const found = await search({ TEMPORAL_CLI_PATH: named, PATH: join(folder, 'path') });
    expect(found).toEqual({ path: named, serverVersion: { major: 1, minor: 29 } });
  });

  it('is refused, with the reason, when the named one is missing, too old or something else', async () => {
    await expect(search({ TEMPORAL_CLI_PATH: join(folder, 'none') })).rejects.toThrow(/cannot be run: .*ENOENT/);
    const old = await fakeCli(join(folder, 'old'), '1.24.2');
    await expect(search({ TEMPORAL_CLI_PATH: old })).rejects.toThrow(
      /a server of release 1\.24; it must be .* 1\.28 or newer/,
    );
    await expect(search({ TEMPORAL_CLI_PATH: '/bin/true' })).rejects.toThrow(/which is no Temporal CLI/);
  });

  it('comes from the PATH when that one is recent enough, else from a download of the SDK that is our own', async () => {
    await fakeCli(join(folder, 'a/temporal'), '1.20.0');
    const second = await fakeCli(join(folder, 'b/temporal'), '1.28.0');
    const path = [join(folder, 'a'), join(folder, 'b')].join(delimiter);
    expect((await search({ PATH: path })).path).toBe(second);

    const downloaded = await fakeCli(join(folder, 'downloads/temporal-sdk-typescript-1.24.0'), '1.31.0');
    const planted = await fakeCli(join(folder, 'downloads/temporal-sdk-typescript-1.25.0'), '1.31.0');
    await chmod(planted, 0o777);
    expect((await search({ PATH: join(folder, 'a') })).path).toBe(downloaded);
  });

  it('is built when none is there, and the three remedies are named when that fails', async () => {
    const built = await fakeCli(join(folder, 'built'), '1.31.0');
    expect((await search({ PATH: '' }, () => Promise.resolve(built))).path).toBe(built);
    const failing = search({ PATH: '' });
    await expect(failing).rejects.toThrow(/there is no Go toolchain/);
    await expect(failing).rejects.toThrow(/TEMPORAL_CLI_PATH.*install Go.*TEMPORAL_ADDRESS/);
  });
});

/** A `go` that writes a fake CLI where it is told to, and counts how often it ran. */
async function fakeGo(script: string): Promise<NodeJS.ProcessEnv> {
  const go = join(folder, 'bin/go');
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(go, `#!/bin/sh\n${script}\n`);
  await chmod(go, 0o755);
  return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: join(folder, 'cache'), HOME: folder };
}

describe('a build of the Temporal binary', () => {
  it('happens once for two starts at the same time and is kept for the next', async () => {
    // the module's files must be where the build runs
    const env = await fakeGo(`test -f go.mod -a -f go.sum || exit 9
      echo run >> ${join(folder, 'runs')}; sleep 0.2
      while [ "$1" != -o ]; do shift; done; echo built > "$2"`);
    const log = vi.fn();
    const [first, second] = await Promise.all([buildTemporal({ env, log }), buildTemporal({ env, log })]);
    expect(first).toBe(second);
    expect(first.startsWith(join(folder, 'cache/docket/temporal'))).toBe(true);
    expect(await buildTemporal({ env, log })).toBe(first);
    expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\n');
    expect(log).toHaveBeenCalledWith('Another start is building the Temporal server; waiting for it');
  });

  it('passes on what the toolchain said when it fails, and leaves nothing half done', async () => {
    const env = await fakeGo('echo "dial tcp: no route to host" >&2; exit 1');
    await expect(buildTemporal({ env, log: () => {} })).rejects.toThrow(/exit code 1: dial tcp: no route to host/);
    const working = await fakeGo('while [ "$1" != -o ]; do shift; done; echo built > "$2"');
    await expect(buildTemporal({ env: working, log: () => {} })).resolves.toContain('temporal');
  });

  it('ends with the start that asked for it', async () => {
    const env = await fakeGo('exec sleep 60');
    const interruption = new AbortController();
    const building = buildTemporal({ env, signal: interruption.signal, log: () => interruption.abort() });
    await expect(building).rejects.toThrow(/aborted/);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, delimiter, extname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { findTemporalBinary } from '../../../../local/temporal/temporal-binary.ts';
import { buildGoProgram } from '../../../../local/temporal/go-program.ts';
import { goToolchain, pinnedPlatform, temporalRelease } from '../../../../local/temporal/pinned-downloads.ts';
import { obtainTemporal } from '../../../../local/temporal/temporal-program.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder = '';

beforeEach(async () => {
  folder = temporaryDirectory();
});

/** An executable that answers `--version` like a Temporal CLI. */
async function fakeCli(path: string, server: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "temporal version 1.2.3 (Server ${server}, UI 2.0.0)"\n`);
  await chmod(path, 0o755);
  return path;
}

function notHere(): Promise<string> {
  return Promise.reject(new Error('this machine is alone'));
}

function search(env: NodeJS.ProcessEnv, obtain = notHere) {
  return findTemporalBinary({ env, log: () => {}, sdkDownloads: join(folder, 'downloads'), obtain });
}

describe('the Temporal binary', () => {
  it('is the configured one, before all others', async () => {
    const named = await fakeCli(join(folder, 'named/cli'), '1.29.4');
    await fakeCli(join(folder, 'path/temporal'), '1.31.0');
    const found = await search({ TEMPORAL_CLI_PATH: named, PATH: join(folder, 'path') });
    expect(found).toEqual({ path: named, serverVersion: { major: 1, minor: 29 } });
  });

  it('is refused with the reason if the configured one is missing, too old or something else', async () => {
    await expect(search({ TEMPORAL_CLI_PATH: join(folder, 'none') })).rejects.toThrow(/cannot be run: .*ENOENT/);
    const old = await fakeCli(join(folder, 'old'), '1.24.2');
    await expect(search({ TEMPORAL_CLI_PATH: old })).rejects.toThrow(
      /a server of release 1\.24; it must be .* 1\.28 or newer/,
    );
    await expect(search({ TEMPORAL_CLI_PATH: '/bin/true' })).rejects.toThrow(/which is no Temporal CLI/);
  });

  it('comes from the PATH if that one is recent enough, else from the SDK’s own download', async () => {
    await fakeCli(join(folder, 'a/temporal'), '1.20.0');
    const second = await fakeCli(join(folder, 'b/temporal'), '1.28.0');
    const path = [join(folder, 'a'), join(folder, 'b')].join(delimiter);
    expect((await search({ PATH: path })).path).toBe(second);

    const downloaded = await fakeCli(join(folder, 'downloads/temporal-sdk-typescript-1.24.0'), '1.31.0');
    const writable = await fakeCli(join(folder, 'downloads/temporal-sdk-typescript-1.25.0'), '1.31.0');
    await chmod(writable, 0o777);
    expect((await search({ PATH: join(folder, 'a') })).path).toBe(downloaded);
  });

  it('is obtained if there is none, and all remedies are named if that fails', async () => {
    const obtained = await fakeCli(join(folder, 'obtained'), '1.31.0');
    expect((await search({ PATH: '' }, () => Promise.resolve(obtained))).path).toBe(obtained);
    const failing = search({ PATH: '' });
    await expect(failing).rejects.toThrow(/\(this machine is alone\)/);
    await expect(failing).rejects.toThrow(/install the Temporal CLI.*GOPROXY.*install Go.*TEMPORAL_ADDRESS/);
  });
});

const program = {
  moduleDirectory: join(import.meta.dirname, '../../../../local/temporal/temporal-cli'),
  source: 'example.com/program',
  name: 'program',
  title: 'the program',
  duration: 'a moment',
};

/** An environment with its own cache and a `go` that runs the script; without a script there is no `go`. */
async function environment(script?: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  if (script !== undefined) await writeFile(join(bin, 'go'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = script === undefined ? bin : `${bin}:/usr/bin:/bin`;
  return { PATH: path, XDG_CACHE_HOME: join(folder, 'cache'), HOME: folder, DOCKET_DOWNLOADS: 'off' };
}

/** Go gives the program all permissions but those of the umask, which is often 002. */
const writesProgram = 'while [ "$1" != -o ]; do shift; done; echo built > "$2"; chmod 775 "$2"';

describe('a program in the cache', () => {
  it('is built once for two simultaneous starts and kept for the next', async () => {
    // the module's files must be where the build runs
    const env = await environment(
      `test -f go.mod -a -f go.sum || exit 9; echo run >> ${join(folder, 'runs')}; sleep 0.2; ${writesProgram}`,
    );
    const log = vi.fn();
    const build = () => buildGoProgram(program, { env, log });
    const [first, second] = await Promise.all([build(), build()]);
    expect(first).toBe(second);
    expect(first.startsWith(join(folder, 'cache/docket/program'))).toBe(true);
    expect(await build()).toBe(first);
    expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\n');
    expect(log).toHaveBeenCalledWith('Another process is preparing the program; waiting for it');
  });

  it('is not used from a file that another account can write to', async () => {
    const env = await environment(writesProgram);
    const path = await buildGoProgram(program, { env, log: () => {} });
    await writeFile(path, 'replaced');
    await chmod(path, 0o777);
    expect(await buildGoProgram(program, { env, log: () => {} })).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('built\n');
  });

  it('reports why no way to it works, and a later start ignores what a failed one left', async () => {
    const env = await environment('echo "dial tcp: no route to host" >&2; echo half > half; exit 1');
    const failing = buildGoProgram(program, { env, log: () => {} });
    await expect(failing).rejects.toThrow(/exit code 1: dial tcp: no route to host; .*DOCKET_DOWNLOADS is off/);
    expect((await readdir(join(folder, 'cache/docket/program'))).map(extname)).toEqual(['.lock']);

    const working = await environment(writesProgram);
    const [left] = await readdir(join(folder, 'cache/docket/program'));
    await mkdir(join(folder, 'cache/docket/program', `${basename(left!, '.lock')}.new/toolchain`), { recursive: true });
    await expect(buildGoProgram(program, { env: working, log: () => {} })).resolves.toContain('program');
  });

  it('ends with the start that requested it, with everything Go runs, and leaves nothing', async () => {
    const env = await environment(`sleep 60 & echo $! > ${join(folder, 'compiler')}; wait`);
    const interruption = new AbortController();
    const building = buildGoProgram(program, { env, signal: interruption.signal, log: () => {} });
    await vi.waitUntil(
      () => existsSync(join(folder, 'compiler')) && readFileSync(join(folder, 'compiler')).length > 1,
      30_000,
    );
    interruption.abort();
    await expect(building).rejects.toThrow(/aborted/);
    const compiler = Number(await readFile(join(folder, 'compiler'), 'utf8'));
    await vi.waitUntil(() => isGone(compiler), 30_000);
    expect((await readdir(join(folder, 'cache/docket/program'))).map(extname)).toEqual(['.lock']);
  });

  it('is waited for only as long as the start lasts', async () => {
    const env = await environment('exec sleep 60');
    const first = new AbortController();
    const second = new AbortController();
    const building = buildGoProgram(program, { env, signal: first.signal, log: () => {} });
    const waiting = buildGoProgram(program, { env, signal: second.signal, log: () => second.abort() });
    await expect(waiting).rejects.toThrow(/aborted/);
    first.abort();
    await expect(building).rejects.toThrow(/aborted/);
  });
});

/** Also true for a zombie. */
function isGone(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('the ways to obtain the Temporal server', () => {
  it('are tried in turn until one works, each in an empty folder', async () => {
    const env = await environment();
    const tried: string[] = [];
    const way = (name: string, works: boolean) => async (work: string) => {
      tried.push(`${name} ${(await readdir(work)).length}`);
      await writeFile(join(work, 'temporal'), name, { mode: 0o755 });
      if (!works) throw new Error(`${name} failed`);
    };
    const log = vi.fn();
    const path = await obtainTemporal({ env, log }, [way('first', false), way('second', true), way('third', true)]);
    expect(tried).toEqual(['first 0', 'second 0']);
    expect(await readFile(path, 'utf8')).toBe('second');
    expect(log.mock.calls).toEqual([['  first failed']]);
  });

  it('are the release, this machine’s Go, and a downloaded Go, in this order', async () => {
    const log = vi.fn();
    await expect(obtainTemporal({ env: await environment(), log })).rejects.toThrow(
      /^The official release was not downloaded: DOCKET_DOWNLOADS is off; Go is not on the PATH; Go was not downloaded: DOCKET_DOWNLOADS is off$/,
    );
    expect(log.mock.calls.flat()).toEqual([
      expect.stringContaining('Downloading the Temporal server'),
      expect.stringContaining('DOCKET_DOWNLOADS is off'),
      '  Go is not on the PATH',
      expect.stringContaining('Downloading Go'),
      expect.stringContaining('DOCKET_DOWNLOADS is off'),
    ]);
  });

  it('lead to the same version, with a Go that its module accepts, on each platform', async () => {
    const module = await readFile(join(program.moduleDirectory, 'go.mod'), 'utf8');
    expect(module).toContain(`\tgithub.com/temporalio/cli v${temporalRelease.version} `);
    const [, asked = ''] = /^go (.+)$/m.exec(module) ?? [];
    expect(asked.localeCompare(goToolchain.version, 'en', { numeric: true })).toBeLessThanOrEqual(0);
    expect(temporalRelease.hashes[pinnedPlatform()]).toMatch(/^[0-9a-f]{64}$/);
  });
});

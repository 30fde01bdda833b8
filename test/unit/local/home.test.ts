import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEncryptionKeys } from '../../../lib/encryption/keys.ts';
import { emptyHome, lostSecrets, openHome, readEncryptionKey, readKeyPepper } from '../../../local/home.ts';
import { homeOf } from '../../../local/local-json.ts';
import { readLocalJson, writeLocalJson } from '../../../local/local-json.ts';
import type { LocalJson } from '../../../local/local-json.ts';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function newFolder(): Promise<string> {
  const folder = temporaryDirectory();
  return folder;
}

const localJson: LocalJson = {
  baseUrl: 'http://127.0.0.1:8080',
  dashboardUrl: 'http://127.0.0.1:8080/',
  projectId: 'prj_1',
  domain: 'sample',
  adminKey: 'svc_secret',
  assistantKey: 'svc_dsc_public',
  temporalAddress: '127.0.0.1:7233',
  temporalUiUrl: null,
  databaseUrl: 'postgres://docket@127.0.0.1:5432/docket',
  pids: { api: 1, worker: 2, postgres: null, temporal: 4 },
};

describe('a home', () => {
  it('is .docket below the working directory unless the environment names another', () => {
    expect(homeOf({})).toBe(join(process.cwd(), '.docket'));
    expect(homeOf({ DOCKET_HOME: '' })).toBe(join(process.cwd(), '.docket'));
    expect(homeOf({ DOCKET_HOME: '/somewhere/else' })).toBe('/somewhere/else');
  });

  it('belongs to one start at a time and is free again afterwards', async () => {
    const directory = join(await newFolder(), 'deep', 'home');
    const home = await openHome(directory);
    await expect(openHome(directory)).rejects.toThrow(`Docket already runs on ${directory}`);
    home[Symbol.dispose]();
    (await openHome(directory))[Symbol.dispose]();
  });

  it('refuses a path that cannot be a folder', async () => {
    const file = join(await newFolder(), 'file');
    await writeFile(file, '');
    await expect(openHome(file)).rejects.toThrow(/cannot be written \(EEXIST\); make it writable, or set DOCKET_HOME/);
    await expect(openHome(join(file, 'below'))).rejects.toThrow(/cannot be written \(ENOTDIR\)/);
  });

  it('removes the access that an earlier release gave others, and leaves the rest alone', async () => {
    const outside = await newFolder();
    const directory = join(outside, 'home');
    const wide = async (path: string, mode: number) => {
      if (mode === 0o755) await mkdir(path);
      else await writeFile(path, '');
      await chmod(path, mode);
    };
    await writeFile(join(outside, 'target'), '');
    await chmod(join(outside, 'target'), 0o644);
    const folders = ['', 'logs', 'postgres', 'repositories', 'temporal', 'work', 'mine'];
    for (const name of folders) await wide(join(directory, name), 0o755);
    const files = ['key-pepper', 'local.json', 'logs/api.log.1', 'temporal/temporal-1.31.db', 'temporal/x.db-wal'];
    for (const name of [...files, 'postgres/password', 'mine/notes', 'notes']) await wide(join(directory, name), 0o644);
    await symlink(join(outside, 'target'), join(directory, 'processes.json'));

    (await openHome(directory))[Symbol.dispose]();
    const modeOf = async (name: string) => ((await lstat(join(directory, name))).mode & 0o777).toString(8);
    const passable = process.getuid?.() === 0 ? '711' : '700';
    for (const name of ['', 'postgres']) expect(await modeOf(name), name).toBe(passable);
    for (const name of ['logs', 'repositories', 'temporal', 'work']) expect(await modeOf(name), name).toBe('700');
    for (const name of [...files, 'postgres/password', 'lock']) expect(await modeOf(name), name).toBe('600');
    expect([await modeOf('mine'), await modeOf('mine/notes'), await modeOf('notes')]).toEqual(['755', '644', '644']);
    expect(await modeOf('../target')).toBe('644');
  });

  it('refuses a folder that everyone can write to', async () => {
    const directory = await newFolder();
    await chmod(directory, 0o1777);
    await expect(openHome(directory)).rejects.toThrow(`Other accounts may write to ${directory}; set DOCKET_HOME`);
    expect(await readdir(directory)).toEqual([]);
  });

  it('keeps nothing but its lock when it is emptied', async () => {
    const directory = await newFolder();
    using home = await openHome(directory);
    await writeFile(join(home.repositories, 'file'), '');
    await writeFile(join(directory, 'local.json'), '{}');
    await emptyHome(home);
    await expect(stat(join(directory, 'local.json'))).rejects.toThrow(/ENOENT/);
    await expect(stat(join(home.repositories, 'file'))).rejects.toThrow(/ENOENT/);
    await expect(openHome(directory)).rejects.toThrow(/already runs/);
  });

  it('keeps one key pepper, readable only by its owner', async () => {
    const directory = await newFolder();
    const pepper = await readKeyPepper(directory);
    expect(pepper).toMatch(/^[0-9a-f]{64}$/);
    expect(await readKeyPepper(directory)).toBe(pepper);
    expect((await stat(join(directory, 'key-pepper'))).mode & 0o777).toBe(0o600);
  });

  it('reports which of its secrets are missing, and what that means', async () => {
    const directory = await newFolder();
    const none = { keyPepper: null, encryptionKeys: null };
    await readEncryptionKey(directory);
    expect(await lostSecrets(directory, none)).toEqual([
      expect.stringMatching(/key-pepper is missing, so earlier keys and sessions/),
    ]);
    await readKeyPepper(directory);
    expect(await lostSecrets(directory, none)).toEqual([]);
    await rm(join(directory, 'encryption-key'));
    const lost = [expect.stringMatching(/encryption-key is missing, so stored tokens/)];
    expect(await lostSecrets(directory, none)).toEqual(lost);
    // a setting replaces only its own file
    expect(await lostSecrets(directory, { ...none, keyPepper: 'x' })).toEqual(lost);
    expect(await lostSecrets(directory, { ...none, encryptionKeys: 'x' })).toEqual([]);
  });

  it('keeps one encryption key, readable only by its owner, even for two simultaneous readers', async () => {
    const directory = await newFolder();
    const [key, same] = await Promise.all([readEncryptionKey(directory), readEncryptionKey(directory)]);
    expect(same).toBe(key);
    expect(parseEncryptionKeys(key)).toMatchObject([{ id: 'local' }]);
    expect((await stat(join(directory, 'encryption-key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['encryption-key']);
  });
});

describe('local.json', () => {
  it('is read as it was written, and readable only by its owner', async () => {
    const directory = await newFolder();
    expect(await readLocalJson(directory)).toBeNull();
    await writeLocalJson(directory, localJson);
    expect(await readLocalJson(directory)).toEqual(localJson);
    expect((await stat(join(directory, 'local.json'))).mode & 0o777).toBe(0o600);
  });

  it('is left as it is if it cannot be parsed, and its faults are named', async () => {
    const directory = await newFolder();
    const file = join(directory, 'local.json');
    for (const [text, fault] of [
      ['{"baseUrl', /it is not JSON/],
      ['[]', /wrong: the whole/],
      [JSON.stringify({ ...localJson, pids: { ...localJson.pids, api: 'x' } }), /wrong: pids\.api/],
    ] as const) {
      await writeFile(file, text);
      await expect(readLocalJson(directory)).rejects.toThrow(fault);
      expect(await readFile(file, 'utf8')).toBe(text);
    }
  });
});

it('starts a new log file when the old one has grown long', async () => {
  const file = join(await newFolder(), 'api.log');
  using log = openLogFile(file);
  const line = 'x'.repeat(1024 * 1024);
  for (let count = 0; count < 12; count += 1) log.write(line);
  const sizes = await Promise.all(
    [`${file}.1`, file].map(async (name) => Math.round((await stat(name)).size / line.length)),
  );
  expect(sizes).toEqual([10, 2]);
});

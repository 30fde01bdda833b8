import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { readApiSettings } from '../../../../cli/http/settings.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const keyOf = (letter: string, prefix = 'svc_') => prefix + letter.repeat(61);
const local = {
  baseUrl: 'http://127.0.0.1:8080',
  dashboardUrl: 'http://127.0.0.1:8080',
  projectId: 'prj_1',
  domain: 'sample',
  adminKey: keyOf('L'),
  assistantKey: keyOf('L', 'svc_dsc_'),
  temporalAddress: '127.0.0.1:7233',
  temporalUiUrl: null,
  databaseUrl: 'postgres://127.0.0.1',
  pids: { api: 1, worker: 2, postgres: 3, temporal: 4 },
};

let home: string;
beforeAll(async () => {
  home = temporaryDirectory();
  await writeFile(join(home, 'local.json'), JSON.stringify(local));
  await writeFile(join(home, 'key'), `${keyOf('F')}\n`);
});

const nowhere = { DOCKET_HOME: '/nowhere/docket' };

describe('readApiSettings', () => {
  it('needs no settings next to a local stack', async () => {
    const env = { DOCKET_HOME: home };
    expect(await readApiSettings({}, env, 'admin')).toMatchObject({ baseUrl: local.baseUrl, key: local.adminKey });
    expect(await readApiSettings({}, env, 'assistant')).toMatchObject({ key: local.assistantKey, local });
  });

  it('sends the local stack’s key nowhere else', async () => {
    const env = { DOCKET_HOME: home, DOCKET_URL: 'https://docket.example.com' };
    await expect(readApiSettings({}, env, 'admin')).rejects.toThrow('An admin key (svc_…) is required.');
    await expect(readApiSettings({ url: 'http://127.0.0.1:9' }, { DOCKET_HOME: home }, 'assistant')).rejects.toThrow(
      'An assistant key (svc_dsc_…) is required.',
    );
  });

  it('says that an assistant key was named for an administrative command, instead of the local stack’s key', async () => {
    const env = { DOCKET_HOME: home, DOCKET_API_KEY: keyOf('A', 'svc_dsc_') };
    await expect(readApiSettings({}, env, 'admin')).rejects.toThrow('DOCKET_API_KEY holds an assistant key');
    expect(await readApiSettings({}, env, 'assistant')).toMatchObject({ key: keyOf('A', 'svc_dsc_') });
    const both = { DOCKET_HOME: home, DOCKET_ASSISTANT_KEY: keyOf('A', 'svc_dsc_') };
    expect(await readApiSettings({}, both, 'admin')).toMatchObject({ key: local.adminKey });
  });

  it('uses a local.json found in the working folder for this machine only', async () => {
    const folder = join(home, 'checkout');
    await mkdir(join(folder, '.docket'), { recursive: true });
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const writeSettings = (baseUrl: string) =>
      writeFile(join(folder, '.docket/local.json'), JSON.stringify({ ...local, baseUrl }));
    const env = { DOCKET_API_KEY: keyOf('A') };
    await writeSettings('https://127.0.0.1.evil.example');
    await expect(readApiSettings({}, env, 'admin')).rejects.toThrow(
      `${folder}/.docket points to https://127.0.0.1.evil.example. If you trust that URL, set it`,
    );
    expect(await readApiSettings({}, { ...env, DOCKET_HOME: '.docket' }, 'admin')).toMatchObject({ key: keyOf('A') });
    expect(await readApiSettings({ url: 'https://docket.example.com' }, env, 'admin')).toMatchObject({ local: null });
    for (const baseUrl of [local.baseUrl, 'http://localhost:8080', 'http://[::1]:8080']) {
      await writeSettings(baseUrl);
      expect(await readApiSettings({}, {}, 'admin')).toMatchObject({ baseUrl, key: local.adminKey });
      // another process may be listening there
      await expect(readApiSettings({}, env, 'admin')).rejects.toThrow(
        `The key is sent only to a URL that you set. If you mean ${baseUrl}, set DOCKET_URL.`,
      );
    }
    cwd.mockRestore();
  });

  it('prefers an option to a variable to the local stack, and picks the right kind of key', async () => {
    const env = { DOCKET_HOME: home, DOCKET_URL: 'https://docket.example.com/', DOCKET_API_KEY: keyOf('A') };
    expect(await readApiSettings({}, env, 'admin')).toEqual({
      baseUrl: 'https://docket.example.com',
      key: keyOf('A'),
      local: null,
    });
    const both = { ...env, DOCKET_ASSISTANT_KEY: keyOf('B', 'svc_dsc_') };
    expect(await readApiSettings({}, both, 'assistant')).toMatchObject({ key: keyOf('B', 'svc_dsc_') });
    const options = { url: 'https://other.example.com', keyFile: join(home, 'key') };
    expect(await readApiSettings(options, env, 'admin')).toMatchObject({ baseUrl: options.url, key: keyOf('F') });
  });

  it.each([
    [{}, nowhere, 'The URL of Docket is unknown. Set DOCKET_URL'],
    [{ url: 'docket.example.com' }, nowhere, 'must be an http or https URL'],
    [{ url: 'https://me:secret@example.com' }, nowhere, 'without a user name or password'],
    [{ url: 'https://example.com' }, { ...nowhere, DOCKET_API_KEY: 'secret\nkey' }, 'no complete Docket API key'],
    [{ url: 'https://example.com', keyFile: keyOf('A') }, nowhere, 'must be the name of a file'],
    [{ url: 'https://example.com', keyFile: '/nowhere/key' }, nowhere, '/nowhere/key cannot be read.'],
  ])('refuses %j with %j, and repeats no secret', async (options, env, words) => {
    const reading = readApiSettings(options, env, 'admin');
    await expect(reading).rejects.toThrow(words);
    await expect(reading).rejects.not.toThrow(/secret|AAAA/);
  });
});

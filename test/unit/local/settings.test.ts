import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { shownLine } from '../../../local/processes/log-lines.ts';
import { apiSpec, serviceEnvironment, workerSpec } from '../../../local/processes/services.ts';
import { readSettings } from '../../../local/settings.ts';

it('has defaults for everything, and treats an empty variable as unset', () => {
  const nothing = { http: { port: 8080, host: '127.0.0.1', baseUrl: null }, databaseUrl: null, temporalAddress: null };
  expect(readSettings({})).toMatchObject(nothing);
  expect(readSettings({ PORT: '', DATABASE_URL: '', TEMPORAL_ADDRESS: '' })).toMatchObject(nothing);
});

it('names every invalid variable in one sentence, without its secrets', () => {
  const env = {
    PORT: '70000',
    DATABASE_URL: 'mysql://user:secret@host',
    DOCKET_ENCRYPTION_KEYS: 'k1:secret',
    TEMPORAL_ADDRESS: 'host',
    DOCKET_BASE_URL: 'x',
  };
  expect(() => readSettings(env)).toThrow(
    /PORT.*DOCKET_BASE_URL.*DOCKET_ENCRYPTION_KEYS is wrong at entry 1.*DATABASE_URL.*TEMPORAL_ADDRESS/,
  );
  expect(() => readSettings(env)).not.toThrow(/secret/);
});

it('passes on what the user set, and the addresses of the stack', () => {
  const env = serviceEnvironment({
    env: { ANTHROPIC_API_KEY: 'key', DOCKET_WORK_DIR: '/elsewhere', DATABASE_URL: 'old', DOCKET_SITE_DIRECTORIES: '' },
    databaseUrl: 'postgres://new',
    temporalAddress: '127.0.0.1:1',
    keyPepper: 'pepper',
    encryptionKeys: 'local:key',
    temporalUiUrl: 'http://127.0.0.1:6',
    http: { port: 5, host: '127.0.0.1', baseUrl: 'http://127.0.0.1:5' },
    workDirectory: '/home/work',
    localRepositories: '/home/repositories',
  });
  expect(env).toMatchObject({
    ANTHROPIC_API_KEY: 'key',
    DOCKET_WORK_DIR: '/elsewhere',
    DATABASE_URL: 'postgres://new',
    DOCKET_SITE_DIRECTORIES: process.cwd(),
    PORT: '5',
    DOCKET_TEMPORAL_UI_URL: 'http://127.0.0.1:6',
  });
});

it('gives forge credentials to the worker only, as the compose file does', async () => {
  const tokens = {
    GITHUB_TOKEN: 'a',
    GITHUB_APP_ID: 'b',
    GITHUB_APP_PRIVATE_KEY_FILE: 'c',
    GITLAB_TOKEN: 'd',
    GITEA_TOKEN: 'e',
  };
  const env = { PATH: '/bin', ...tokens };
  expect(workerSpec(env).env).toMatchObject(env);
  expect(Object.entries(apiSpec(env, 'http://x').env).filter(([, value]) => value !== undefined)).toEqual([
    ['PATH', '/bin'],
  ]);
  const compose = await readFile('docker-compose.yml', 'utf8');
  const beforeWorker = compose.slice(0, compose.indexOf('\n  worker: &worker'));
  for (const name of Object.keys(tokens)) {
    expect(beforeWorker).not.toContain(name);
    expect(compose).toMatch(new RegExp(`\\b${name}: "\\$\\{${name}:[-+]`));
  }
});

it('shows warnings, errors and lines that are not log entries, and writes the rest to the log file', () => {
  expect(shownLine('api', '{"level":30,"msg":"api ready"}')).toBeNull();
  expect(shownLine('api', '{"level":40,"msg":"slow"}')).toBe('api: slow');
  expect(shownLine('api', '{"level":"ERROR","msg":"x"}')).toBe('api: x');
  expect(shownLine('api', '{"level":50,"msg":"failed","err":{"message":"no disk"}}')).toBe('api: failed: no disk');
  expect(shownLine('worker', 'TypeError: oops')).toBe('worker: TypeError: oops');
  expect(shownLine('worker', '{not json')).toBe('worker: {not json');
  expect(shownLine('worker', '  ')).toBeNull();
});

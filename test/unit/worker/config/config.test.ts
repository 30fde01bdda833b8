import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getCACertificates } from 'node:tls';
import { expect, it } from 'vitest';
import { readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { testKeysText } from '../../../support/database/encryption.ts';
import { readConfig, secretsOf } from '../../../../worker/config/config.ts';
import { allAuthorities } from '../../../../worker/config/extra-authorities.ts';
import { ConfigError } from '../../../../lib/config/read-variables.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const DATABASE_URL = 'postgres://docket:p%40ss-word@127.0.0.1:5432/docket';

it('needs nothing but a database', () => {
  expect(readConfig({ DATABASE_URL })).toEqual({
    logLevel: 'info',
    tracing: null,
    database: { url: DATABASE_URL, connections: null },
    temporal: readTemporalSettings({}),
    proxies: { exceptions: '' },
    encryptionKeys: [],
    embedding: null,
    models: {
      anthropicApiKey: undefined,
      openaiApiKey: undefined,
      googleApiKey: undefined,
      compatible: undefined,
    },
    prices: {},
    budgets: { jobMicros: null, dayMicros: null, organizationMicros: null },
    repositories: { allowedHosts: ['github.com'], localRoot: null },
    privateHosts: [],
    cloneLimits: { bytes: 2e9, files: 200_000, depth: 100, memoryBytes: 2 ** 32, timeoutMs: 900_000 },
    siteDirectories: null,
    webhookAllowedHosts: [],
    workDirectory: resolve('.docket/work'),
    mirrorBytes: 20e9,
    forges: {
      github: { apiUrl: 'https://api.github.com', token: null, app: null },
      gitlab: null,
      gitea: null,
    },
    environments: {
      ceilings: {
        usual: { memoryBytes: 2_048 * 2 ** 20, processes: 256, seconds: 120 },
        setup: { memoryBytes: 4_096 * 2 ** 20, processes: 1_024, diskBytes: 10 * 2 ** 30, totalBytes: 10 * 2 ** 30 },
        setupSeconds: 600,
        hosts: [],
        jobDiskBytes: null,
      },
      layerBounds: { maxLayers: 5, maxBytes: 10e9 },
      machineBytes: 20e9,
    },
    extraAuthorities: null,
    baseUrl: 'http://127.0.0.1:8080',
    historyDays: 90,
    fetchHosts: [],
    waitDays: 7,
    retention: { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 20 * 2 ** 30, threads: 100_000 },
    selfReview: true,
    buildId: null,
    healthPort: null,
    graceMs: 20_000,
    slots: 40,
    commands: {
      engine: 'bubblewrap',
      maxSeconds: 120,
      memoryBytes: 2_147_483_648,
      processes: 256,
      diskBytes: 209_715_200,
      hosts: [],
    },
    jobDisks: null,
    images: {
      standard: null,
      allowed: [],
      archives: null,
      program: null,
      limits: { bytes: 4e9, entries: 500_000 },
      totalBytes: 20e9,
    },
  });
});

it('lets commands be turned off, and refuses invalid limits', () => {
  expect(readConfig({ DATABASE_URL, DOCKET_RUN: 'off' }).commands).toBeNull();
  expect(() => readConfig({ DATABASE_URL, DOCKET_RUN_SECONDS: '9999' })).toThrow('DOCKET_RUN_SECONDS');
  expect(readConfig({ DATABASE_URL, DOCKET_JOB_DISK_MB: '500' }).jobDisks).toEqual({ growthBytes: 524_288_000 });
  expect(readConfig({ DATABASE_URL }).commands?.hosts).toEqual([]);
  expect(readConfig({ DATABASE_URL, DOCKET_RUN_HOSTS: 'npm.test' }).commands?.hosts).toEqual(['npm.test']);
  expect(() => readConfig({ DATABASE_URL, DOCKET_RUN_HOSTS: '*' })).toThrow('DOCKET_RUN_HOSTS must be host names');
  const pages = 'docs.example.com, *.example.org';
  expect(readConfig({ DATABASE_URL, DOCKET_FETCH_HOSTS: pages }).fetchHosts).toEqual(pages.split(', '));
  expect(() => readConfig({ DATABASE_URL, DOCKET_FETCH_HOSTS: '*' })).toThrow(
    'DOCKET_FETCH_HOSTS must be a host such as',
  );
});

it('reads the images of commands, of which the operator’s own is allowed', () => {
  const images = (env: Record<string, string>) => readConfig({ DATABASE_URL, ...env }).images;
  expect(images({ DOCKET_IMAGE: 'python:3.13', DOCKET_IMAGES: 'ghcr.io/acme/*, node' }).allowed).toEqual([
    { kind: 'prefix', prefix: 'ghcr.io/acme/' },
    { kind: 'repository', text: 'docker.io/library/node' },
    { kind: 'exact', text: 'docker.io/library/python:3.13' },
  ]);
  expect(() => images({ DOCKET_IMAGE: '-v' })).toThrow('DOCKET_IMAGE must be the name of an image');
  expect(() => images({ DOCKET_IMAGES: '*' })).toThrow('DOCKET_IMAGES must be names of images');
  expect(() => images({ DOCKET_IMAGE_PROGRAM: '/bin/sh' })).toThrow('DOCKET_IMAGE_PROGRAM must be the path');
});

it('names every invalid variable at once, without its value', () => {
  const env = { DATABASE_URL: 'mysql://s3cret', LOG_LEVEL: 'loud', GITHUB_TOKEN: 'two words', GITHUB_API_URL: 'x' };
  let message = '';
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = String(error);
  }
  for (const name of Object.keys(env)) expect(message).toContain(name);
  expect(message).not.toContain('s3cret');
  expect(message).not.toContain('two words');
});

it('treats an empty variable as unset', () => {
  expect(
    readConfig({ DATABASE_URL, GITHUB_TOKEN: '', DOCKET_LOCAL_REPOSITORIES: ' ' }).forges.github?.token,
  ).toBeNull();
});

it('knows all of its secrets', () => {
  const config = readConfig({
    DATABASE_URL,
    ANTHROPIC_API_KEY: 'a-key',
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1',
    OPENAI_COMPATIBLE_API_KEY: 'c-key',
    GITHUB_TOKEN: 'g-token',
    DOCKET_ENCRYPTION_KEYS: testKeysText('k1'),
  });
  const key = testKeysText('k1').slice('k1:'.length);
  expect(secretsOf(config)).toEqual(['a-key', 'c-key', key, 'g-token', 'p@ss-word']);
});

it('reads the servers of forges, and a private key in GitHub’s format', async () => {
  const folder = temporaryDirectory();
  const file = join(folder, 'app.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(file, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const gitea = { GITEA_TOKEN: 't', GITEA_URL: 'https://git.acme.test/' };
  const env = { DATABASE_URL, GITHUB_APP_ID: '7', GITHUB_APP_PRIVATE_KEY_FILE: file, GITLAB_TOKEN: 'l', ...gitea };
  const { forges } = readConfig(env);
  expect(forges).toMatchObject({
    github: { app: { appId: '7', privateKey: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/) } },
    gitlab: { url: 'https://gitlab.com', token: 'l' },
    gitea: { url: 'https://git.acme.test', token: 't' },
  });
  await rm(file);
  for (const wrong of [{ ...env }, { ...env, GITEA_URL: '' }, { ...env, GITHUB_APP_ID: '' }])
    expect(() => readConfig(wrong)).toThrow(ConfigError);
});

it('uses the certificates of NODE_EXTRA_CA_CERTS for git, next to all others, and refuses a file without any', async () => {
  const folder = temporaryDirectory();
  const file = join(folder, 'authority.pem');
  const [authority = ''] = getCACertificates('bundled');
  await writeFile(file, `# ours\n${authority}`);
  const { extraAuthorities } = readConfig({ DATABASE_URL, NODE_EXTRA_CA_CERTS: file });
  const fingerprintOf = (pem: string) => new X509Certificate(pem).fingerprint256;
  expect(fingerprintOf(extraAuthorities ?? '')).toBe(fingerprintOf(authority));
  const all = allAuthorities(extraAuthorities ?? '');
  for (const other of getCACertificates('bundled')) expect(all).toContain(other.trim());
  await writeFile(file, 'no certificate');
  for (const NODE_EXTRA_CA_CERTS of [file, join(folder, 'none.pem')])
    expect(() => readConfig({ DATABASE_URL, NODE_EXTRA_CA_CERTS })).toThrow(/^NODE_EXTRA_CA_CERTS must name/);
});

it('allows private addresses for the operator’s own servers, but not for public ones', () => {
  const env = { DATABASE_URL, DOCKET_PRIVATE_HOSTS: 'git.acme.test, 10.0.0.5:3000' };
  const own = {
    GITEA_URL: 'http://tea.acme.test:3000/x',
    GITEA_TOKEN: 't',
    GITHUB_API_URL: 'https://hub.acme.test/api/v3',
  };
  expect(readConfig(env).privateHosts).toEqual(['git.acme.test', '10.0.0.5:3000']);
  expect(readConfig({ DATABASE_URL, ...own }).privateHosts).toEqual(['hub.acme.test:443', 'tea.acme.test:3000']);
});

it('refuses invalid repository limits', () => {
  const wrong = {
    DOCKET_REPOSITORY_MB: '0',
    DOCKET_REPOSITORY_FILES: '0.5',
    DOCKET_REPOSITORY_DEPTH: '1e2',
    DOCKET_CLONE_MINUTES: 'x',
    DOCKET_GIT_MEMORY_MB: '255',
    DOCKET_MIRRORS_GB: '0x10',
  };
  for (const [name, value] of Object.entries(wrong))
    expect(() => readConfig({ DATABASE_URL, [name]: value })).toThrow(new RegExp(name));
});

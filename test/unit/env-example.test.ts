import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig as readApiConfig } from '../../api/config.ts';
import { recommendedSettings } from '../../local/postgres/postgres.ts';
import { readConfig as readWorkerConfig } from '../../worker/config/config.ts';

const checkout = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(checkout, file), 'utf8');

/** Variables that the system or one of our processes sets, or that belong to a program the worker calls. */
const notForPersons = [
  'PATH',
  'HOME',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'REGISTRY_AUTH_FILE',
  'GOENV',
  'DOCKET_SUPERVISOR_PID',
  'NODE_COMPILE_CACHE',
  'NODE_DISABLE_COMPILE_CACHE',
  'UV_THREADPOOL_SIZE',
];

/** Variables of `.env.example`: section → name → default. */
const sections = new Map<string, Map<string, string>>();
for (const part of read('.env.example')
  .split(/^# --- (?=.* ---$)/m)
  .slice(1)) {
  const [title = '', ...lines] = part.split('\n');
  const variables = lines.flatMap((line) => /^# ([A-Z][A-Z0-9_]*)=(.*)$/.exec(line)?.slice(1) ?? []);
  const entries = Array.from({ length: variables.length / 2 }, (_, at) => variables.slice(2 * at, 2 * at + 2));
  sections.set(title.replace(/ ---$/, ''), new Map(entries as [string, string][]));
}

function namesIn(isWanted: (title: string) => boolean): string[] {
  return [...sections].filter(([title]) => isWanted(title)).flatMap(([, variables]) => [...variables.keys()]);
}

function filesOf(folder: string): string[] {
  const files = readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
}

/** Variables that a folder's code reads; both processes read those of `lib/`. */
function variablesIn(folder: string): string[] {
  const files = filesOf(folder);
  const isProcess = folder === 'api' || folder === 'worker';
  const found = [...files, ...(isProcess ? filesOf('lib') : [])].flatMap((file) => {
    const text = read(file);
    const used = [...text.matchAll(/\benv(?:\.|\[')([A-Z][A-Z0-9_]+)/g)];
    const parsed = text.includes('z.object') ? [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)] : [];
    return [...used, ...parsed].map(([, name = '']) => name);
  });
  return [...new Set(found)].filter((name) => !notForPersons.includes(name)).sort();
}

const folders = ['api', 'worker', 'local', 'db', 'cli', 'lib', 'activities', 'models', 'search', 'workflows'];
const found = new Map(folders.map((folder) => [folder, variablesIn(folder)]));
const readBy = (folder: string) => found.get(folder) ?? [];

const isOf = (process: string) => (title: string) => title.includes('both processes') || title === process;
const required = { DATABASE_URL: 'postgres://docket:docket@127.0.0.1:5432/docket', DOCKET_KEY_PEPPER: 'pepper' };

describe('.env.example', () => {
  it('lists every variable that is read, once, and no other', () => {
    const listed = namesIn(() => true);
    expect(listed.toSorted()).toEqual([...new Set(folders.flatMap(readBy))].sort());
  });

  it('says which process reads it', () => {
    expect(readBy('api').filter((name) => !namesIn(isOf('api')).includes(name))).toEqual([]);
    expect(readBy('worker').filter((name) => !namesIn(isOf('worker')).includes(name))).toEqual([]);
    expect(namesIn((title) => title === 'api').filter((name) => readBy('worker').includes(name))).toEqual([]);
    expect(namesIn((title) => title === 'worker').filter((name) => readBy('api').includes(name))).toEqual([]);
  });

  it('shows the defaults', () => {
    const shown = [...sections.values()].flatMap((variables) => [...variables]);
    const written = Object.fromEntries(shown.filter(([, value]) => !value.includes('<')));
    expect(readApiConfig({ ...written, ...required })).toEqual(readApiConfig(required));
    expect(readWorkerConfig({ ...written, ...required })).toEqual(readWorkerConfig(required));
  });
});

describe('docker-compose.yml', () => {
  const services: Record<
    string,
    {
      environment: Record<string, string>;
      command?: string[];
      ports?: string[];
      volumes?: string[];
      logging?: { driver: string };
    }
  > = parse(read('docker-compose.yml'), {
    merge: true,
  }).services;
  /** Variables that the image sets. */
  const ofImage = ['HOST', 'PORT', 'DOCKET_WORK_DIR', 'DOCKET_CACHE_DIR'];

  it.each(['api', 'worker'])('passes every variable that it reads to the %s', (name) => {
    const given = Object.keys(services[name]!.environment);
    expect(readBy(name).filter((variable) => !given.includes(variable) && !ofImage.includes(variable))).toEqual([]);
  });

  it('publishes ports on the loopback address only, unless the operator names another', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports).toHaveLength(2);
    for (const port of ports) expect(port).toMatch(/^(?:127\.0\.0\.1|\$\{DOCKET_LISTEN:-127\.0\.0\.1\}):/);
  });

  it('rotates the logs of every service', () => {
    expect(Object.keys(services).filter((name) => services[name]!.logging?.driver !== 'local')).toEqual([]);
  });

  it('starts PostgreSQL with the settings of `npm start`, which the documentation recommends', () => {
    const settings = Object.entries(recommendedSettings).map(([name, value]) => `${name}=${value}`);
    expect(services['postgres']!.command).toEqual(['postgres', ...settings.flatMap((setting) => ['-c', setting])]);
    for (const setting of settings) expect(read('docs/operations/production.md')).toContain(`| \`${setting}\` |`);
  });

  it('mounts the files that settings can name, and the GitHub App’s key for the worker only', () => {
    const [key, files] = ['GITHUB_APP_PRIVATE_KEY_FILE', 'DOCKET_FILES'].map((name) =>
      Object.keys(services).filter((service) => services[service]!.volumes?.some((volume) => volume.includes(name))),
    );
    expect(key).toEqual(['worker', 'worker-next']);
    expect(files).toEqual(['migrate', 'api', 'worker', 'worker-next']);
  });
});

import { expect, it } from 'vitest';
import { layerKeyOf, type LayerKeyRequest } from '../../../activities/environment/layer-key.ts';
import { inspectMachine } from '../../../activities/sandbox/machine.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { access, createTestWorkspaces } from '../clients/setup.ts';

const { accounts } = await accountsWithSandbox();
const environment = { setup: 'npm ci', path: ['~/bin'], variables: { CI: '1' } };
type Change = Omit<Partial<LayerKeyRequest>, 'commit' | 'access'>;

it('the key of what a setup installs changes with everything that it depends on, and with nothing else', async () => {
  await using repository = await createTestRepository({ 'package-lock.json': '{}', 'README.md': '# Lamp\n' });
  await using elsewhere = await createTestRepository({ 'package-lock.json': '{}', 'README.md': '# Lamp\n' });
  await using test = await createTestWorkspaces();
  const { workspaces } = test;
  const before = await repository.git('rev-parse', 'main');
  const keyOf = async (change: Change, commit = before, { path } = repository) =>
    layerKeyOf(workspaces, {
      environment,
      secretNames: ['A_TOKEN', 'B_TOKEN'],
      kind: 'bubblewrap/x64/debian-12/node-24',
      imageId: null,
      ...change,
      commit,
      access: access(path),
    });
  const of = (part: LayerKeyRequest['environment']) => ({ environment: { ...environment, ...part } });
  const key = await keyOf({});
  expect(key).toMatch(/^[\da-f]{40}$/);

  const commits: [Parameters<typeof repository.commit>[0], boolean, Change?][] = [
    [{ 'README.md': '# Lamp 2\n', 'src/lock.json': '{}' }, false],
    [{ 'package-lock.json': '{"a": 1}' }, true],
    [{ 'web/deep/requirements-dev.txt': 'a==1\n' }, true],
    [{ 'web/deep/requirements-dev.txt': 'a==2\n' }, true],
    ...[
      'requirements/dev.txt constraints.txt pdm.lock environment.yml',
      'gradle/libs.versions.toml gradle.properties go.work .cargo/config.toml pnpm-workspace.yaml',
      'app/App.csproj packages.lock.json Directory.Packages.props deno.lock bun.lockb',
      'mise.toml .tool-versions .ruby-version .java-version',
    ].flatMap((names) =>
      names.split(' ').map((name): [Record<string, string>, boolean] => [{ [`deep/${name}`]: 'x' }, true]),
    ),
    // files that the script names, from the folder that it may be in
    [{ 'tools/scripts/setup.sh': 'npm ci\n' }, true, of({ setup: 'cd tools && (bash ./scripts/setup.sh)' })],
    [{ 'tools/scripts/setup.sh': 'npm ci --omit=dev\n' }, true, of({ setup: '/tree/tools/scripts/setup.sh' })],
    [{ 'tools/scripts/other.sh': 'npm ci\n' }, false, of({ setup: 'bash tools/scripts/setup.sh' })],
    [{ 'tools/scripts/setup.sh': '' }, false, of({ setup: 'bash tools/scripts/setup.sh', inputs: ['*.lock'] })],
    // an environment that names its inputs depends on nothing else
    [{ 'package-lock.json': '{"a": 2}' }, false, of({ inputs: ['tools/*.txt'] })],
    [{ 'tools/versions.txt': '1\n' }, true, of({ inputs: ['tools/*.txt'] })],
    [{ 'tools/versions.txt': '2\n' }, true, of({ inputs: ['tools/*.txt'] })],
  ];
  for (const [files, isOther, change = {}] of commits) {
    const [parent, commit] = [await repository.git('rev-parse', 'main'), await repository.commit(files)];
    const keys = [await keyOf(change, parent), await keyOf(change, commit)];
    expect(new Set(keys).size, JSON.stringify(files)).toBe(isOther ? 2 : 1);
  }

  const others: Change[] = [
    of({ setup: 'npm ci --omit=dev' }),
    of({ path: ['~/tools'] }),
    of({ variables: { CI: '2' } }),
    of({ inputs: ['README.md'] }),
    { secretNames: ['A_TOKEN'] },
    { secretNames: ['A_TOKEN', 'B_TOKEN', 'C_TOKEN'] },
    { kind: 'bubblewrap/arm64/debian-12/node-24' },
    { kind: 'bubblewrap/x64/debian-13/node-24' },
    { imageId: 'a'.repeat(64) },
    { imageId: 'b'.repeat(64) },
  ];
  const keys = [key, await keyOf({}, await elsewhere.git('rev-parse', 'main'), elsewhere)];
  for (const change of others) keys.push(await keyOf(change));
  expect(new Set(keys).size).toBe(others.length + 2);

  const equal: Change[] = [
    {},
    { secretNames: ['B_TOKEN', 'A_TOKEN'] },
    of({ check: 'npm test', hosts: { setup: ['registry.test'] }, limits: { memoryMb: 64, setupSeconds: 1 } }),
    of({ image: 'python:3.13' }),
    of({ start: 'redis-server &' }),
  ];
  for (const change of equal) expect(await keyOf(change), JSON.stringify(change)).toBe(key);
});

it.runIf(accounts.length > 0)('the kind of a sandbox names the architecture', async () => {
  const { kind } = await inspectMachine('bubblewrap');
  expect(kind.split('/')).toContain(process.arch);
});

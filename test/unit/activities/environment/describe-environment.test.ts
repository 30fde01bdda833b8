import { expect, it } from 'vitest';
import { describeEnvironment } from '../../../../activities/environment/describe-environment.ts';

const access = {
  organizationId: 'org_1',
  repository: '/repository',
  credential: null,
  signal: new AbortController().signal,
};

/** Describes the environment of a repository with these files; null for a symbolic link. */
function describeFiles(files: Record<string, string | null>) {
  const workspaces = {
    async readFirst({ paths, onLink }: { paths: readonly string[]; onLink?(path: string): void }) {
      for (const path of paths) {
        const text = files[path];
        if (typeof text === 'string') return { path, content: Buffer.from(text) };
        if (text === null) onLink?.(path);
      }
      return null;
    },
    async listFiles({ isWanted }: { isWanted(path: string): boolean }) {
      return Object.keys(files)
        .filter(isWanted)
        .map((path) => ({ path, object: path }));
    },
  };
  return describeEnvironment(workspaces, { project: { environment: null }, commit: 'c', access });
}

const one = '.devcontainer/web/devcontainer.json';
const made = JSON.stringify({ postCreateCommand: 'make' });

it('follows the only development container of a repository, whatever its name', async () => {
  expect(await describeFiles({ [one]: made, '.devcontainer/web/deep/devcontainer.json': '{}' })).toEqual({
    environment: { setup: '( make\n)', variables: {} },
    name: one,
    isOwn: false,
    notices: [`The environment of this job follows ${one}.`],
  });
  const first = await describeFiles({ [one]: made, '.devcontainer.json': '{}' });
  expect(first?.name).toBe('.devcontainer.json');
  expect(await describeFiles({ 'README.md': '' })).toBeNull();
});

it('says that it follows none of several development containers', async () => {
  const other = '.devcontainer/api/devcontainer.json';
  const described = await describeFiles({ [one]: made, [other]: made });
  expect(described).toMatchObject({ environment: {}, isOwn: false });
  expect(described?.notices).toEqual([
    `The repository has several development containers, and Docket follows none of them: ${one}, ${other}. Describe the environment in .docket/environment.yml.`,
  ]);
});

it('says which files it does not read', async () => {
  const misspelled = '.docket/environment.yaml';
  const other = '.devcontainer.json';
  const [wrongName, isLink] = [
    `Docket does not read ${misspelled}: its name must be .docket/environment.yml.`,
    'Docket does not read .docket/environment.yml, because it is a symbolic link.',
  ];
  const alone = await describeFiles({ [misspelled]: 'setup: make' });
  expect(alone).toMatchObject({ environment: {}, isOwn: false, notices: [wrongName] });
  const both = await describeFiles({ '.docket/environment.yml': null, [misspelled]: 'setup: make', [other]: made });
  expect(both).toMatchObject({ environment: { setup: '( make\n)' }, name: other });
  expect(both?.notices).toEqual([isLink, wrongName, `The environment of this job follows ${other}.`]);
  const right = await describeFiles({ '.docket/environment.yml': 'setup: make', [misspelled]: '', [other]: null });
  expect(right).toMatchObject({ isOwn: true, notices: [] });
});

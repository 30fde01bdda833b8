import { expect, it } from 'vitest';
import { describeEnvironment } from '../../../../activities/environment/describe-environment.ts';

const access = {
  organizationId: 'org_1',
  repository: '/repository',
  credential: null,
  signal: new AbortController().signal,
};

/** Describes the environment of a repository with these files. */
function describeFiles(files: Record<string, string>) {
  const workspaces = {
    async readFirst({ paths }: { paths: readonly string[] }) {
      const path = paths.find((one) => one in files);
      return path === undefined ? null : { path, content: Buffer.from(files[path]!) };
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

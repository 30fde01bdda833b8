import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml';
import { z } from 'zod';
import { CommandError } from '../../../cli/command-error.ts';
import { environmentPath, parseEnvironment } from '../../../lib/environments/environment.ts';
import { parsed, textOf } from '../eval/tasks.ts';
import { createTrees, type Trees } from '../eval/trees.ts';

const listSchema = z
  .array(
    z.strictObject({
      repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
      commit: z.string().regex(/^[0-9a-f]{40}$/),
      language: z.string(),
      /** The file that jobs change. */
      readme: z.string().default('README.md'),
      environment: z.looseObject({
        setup: z.string(),
        check: z.string(),
        variables: z.record(z.string(), z.unknown()).default({}),
        hosts: z.looseObject({ setup: z.array(z.string()) }),
      }),
    }),
  )
  .min(1);

/** A real repository, and the environment that its tests pass in. */
export type ListedRepository = z.infer<typeof listSchema>[number];

/** A repository of the list that Docket works on. */
export interface PreparedRepository extends ListedRepository {
  path: string;
  trees: Trees;
  /** Number of commits of its history. */
  commits: number;
}

/** Branches that jobs start from. The environments differ in a variable, so that each has a setup of its own. */
export const branches = { measured: 'measured', interrupted: 'interrupted' } as const;

/** Reads a list of repositories. Throws CommandError. */
export function readList(file: string): ListedRepository[] {
  return parsed(listSchema, file, () => parseYaml(textOf(file)));
}

/**
 * Fetches a repository with its history into a folder, and commits the description of its environment on top.
 * `source` is a URL in which {owner} and {name} are filled in.
 */
export async function prepareRepository(
  listed: ListedRepository,
  { folder, source }: { folder: string; source: string },
): Promise<PreparedRepository> {
  const { repository, commit, environment } = listed;
  const [owner = '', name = ''] = repository.split('/');
  const path = join(folder, `${owner}-${name}.git`);
  const trees = createTrees(path);
  const { git } = trees;
  await mkdir(path, { recursive: true });
  await git('init', '--quiet', '--bare', '--template=', `--initial-branch=${branches.measured}`);
  const url = source.replaceAll('{owner}', owner).replaceAll('{name}', name);
  await git('fetch', '--quiet', '--no-tags', url, commit).catch((cause: unknown) => {
    throw new CommandError(`${url} cannot be fetched at ${commit}. Is --source right?`, { cause });
  });
  for (const branch of Object.values(branches)) {
    const text = stringifyYaml({ ...environment, variables: { ...environment.variables, BRANCH: branch } });
    const description = parseEnvironment(text);
    if (!description.ok) throw new CommandError(`The environment of ${repository} ${description.problem}.`);
    const tree = await trees.withFiles(`${commit}^{tree}`, { [environmentPath]: text });
    const described = await git('commit-tree', tree, '-p', commit, '-m', 'Describe the environment of jobs');
    await git('update-ref', `refs/heads/${branch}`, described);
  }
  const commits = Number(await git('rev-list', '--count', commit));
  return { ...listed, path, trees, commits };
}

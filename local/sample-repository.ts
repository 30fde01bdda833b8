import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { messageOf, StartError } from './start-error.ts';

const filesOfSample = join(import.meta.dirname, 'sample');

/** Documentation folder of the sample repository. */
export const sampleDocsPath = 'docs';

/** Returns the environment for every git call here. It inherits nothing that could run or redirect anything. */
function gitEnvironment(home: string) {
  const author = { name: 'Docket sample', email: 'sample@docket.invalid', date: '2026-01-05T09:00:00Z' };
  return {
    PATH: process.env['PATH'],
    HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: author.date,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_COMMITTER_DATE: author.date,
  };
}

/**
 * Creates the sample repository: a bare git repository `lamp.git` in `directory` with a documentation folder. An
 * existing one is left unchanged. Throws StartError when git is missing or too old.
 */
export async function createSampleRepository({ directory }: { directory: string }): Promise<{ repository: string }> {
  const repository = join(directory, 'lamp.git');
  if (existsSync(join(repository, 'HEAD'))) return { repository };
  await mkdir(directory, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'docket-sample-'));
  const half = `${repository}.${process.pid}`;
  try {
    await cp(filesOfSample, work, { recursive: true });
    const env = gitEnvironment(work);
    const git = simpleGit({
      baseDir: work,
      allowEnvironment: Object.keys(env),
      unsafe: { allowUnsafeConfigPaths: true },
    }).env(env);
    await git.init(['--quiet', '--initial-branch=main']);
    await git.add('--all');
    await git.commit('Describe the lamp controller');
    await git.clone(work, half, ['--quiet', '--bare', '--no-hardlinks']);
    await git.raw('--git-dir', half, 'remote', 'remove', 'origin');
    await rename(half, repository);
  } catch (cause) {
    throw new StartError(
      `The sample repository cannot be created (${messageOf(cause).split('\n')[0]}). Install git 2.38 or newer, and start again.`,
      { cause },
    );
  } finally {
    await rm(half, { recursive: true, force: true });
    await rm(work, { recursive: true, force: true });
  }
  return { repository };
}

import { join } from 'node:path';
import {
  buildGoProgram,
  findGoProgram,
  type BuildContext,
  type GoProgram,
} from '../../../local/temporal/go-program.ts';

const gitea: GoProgram = {
  moduleDirectory: join(import.meta.dirname, 'gitea'),
  source: 'code.gitea.io/gitea',
  name: 'gitea',
  title: 'Gitea',
  duration: 'about 6 minutes on two cores',
  tags: ['sqlite', 'sqlite_unlock_notify'],
  version: '1.26.0',
  usesC: true,
  assets: { module: 'code.gitea.io/gitea', folders: ['templates', 'options', 'public/assets/img'] },
};

/** Builds a real Gitea from the pinned module into the user's cache. Needs Go and a C compiler. */
export function buildGitea(context: BuildContext): Promise<string> {
  return buildGoProgram(gitea, context);
}

/** Returns the Gitea that was built before; null when there is none. */
export function findGitea(env: NodeJS.ProcessEnv): Promise<string | null> {
  return findGoProgram(gitea, env);
}

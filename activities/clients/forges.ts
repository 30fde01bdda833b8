import { ForgeError, type Forge, type Forges } from './forge.ts';
import { createGithubForge } from './github.ts';

export interface ForgesOptions {
  local: Forge;
  /** Null when the worker has no token. */
  github: { token: string; apiUrl: string } | null;
}

/** Makes the choice of forge; a project on a forge without a credential fails with a sentence that names the remedy. */
export function createForges({ local, github }: ForgesOptions): Forges {
  const hosted = github === null ? null : createGithubForge(github);
  return {
    forKind(kind) {
      if (kind === 'local') return local;
      if (hosted !== null) return hosted;
      throw new ForgeError(
        'authentication',
        'The worker has no token for GitHub; set GITHUB_TOKEN and start the job again.',
      );
    },
  };
}

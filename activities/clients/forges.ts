import { ForgeError, type Forge, type Forges } from './forge.ts';
import { createGithubForge } from './github.ts';

export interface ForgesOptions {
  local: Forge;
  /** `token` is the worker's own; null: only projects have some. */
  github: { token: string | null; apiUrl: string };
}

/** Makes the choice of forge; a project on a forge without a credential fails with a sentence that names the remedy. */
export function createForges({ local, github }: ForgesOptions): Forges {
  const { apiUrl } = github;
  return {
    forKind(kind, own = null) {
      if (kind === 'local') return local;
      const token = own ?? github.token;
      if (token !== null) return createGithubForge({ token, apiUrl });
      throw new ForgeError(
        'authentication',
        'Neither the project nor the worker has a token for GitHub; give the project one, or set GITHUB_TOKEN, and start the job again.',
      );
    },
  };
}

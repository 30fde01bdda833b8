import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import { ForgeError } from './forge.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/**
 * Splits the address of a repository on the server at `root` into its owner, which may have several parts, and its
 * name. The root may include a path. Throws ForgeError when the repository is not on that server.
 */
export function repositoryPath(repository: string, { root, forge }: { root: string; forge: string }) {
  const base = new URL(`${trimEndSlashes(root)}/`);
  const below = pathBySsh(repository, base) ?? pathByHttp(repository, base);
  if (below !== null) {
    const path = below.replace(/\.git$/, '');
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    if (parts.length > 0 && name !== '' && parts.every((part) => part !== ''))
      return { owner: parts.join('/'), name, path };
  }
  throw new ForgeError('not-found', `The repository is not on the ${forge} server that the project names.`);
}

/** Reports whether a repository has an HTTPS address below that of a server. */
export function liesBelow(repository: string, root: string): boolean {
  const base = URL.parse(`${trimEndSlashes(root)}/`);
  return base !== null && pathByHttp(repository, base) !== null;
}

/** Reports whether a repository is on the server at this address, over HTTPS or ssh. */
export function belongsTo(repository: string, root: string): boolean {
  const base = URL.parse(`${trimEndSlashes(root)}/`);
  return base !== null && (pathBySsh(repository, base) ?? pathByHttp(repository, base)) !== null;
}

function pathByHttp(repository: string, base: URL): string | null {
  const url = URL.parse(repository);
  const isBelow = url?.origin === base.origin && url.pathname.startsWith(base.pathname);
  return isBelow ? url.pathname.slice(base.pathname.length) : null;
}

/** Accepts ssh on any port of the server's own host name, or of a subdomain such as `ssh.github.com`. */
function pathBySsh(repository: string, base: URL): string | null {
  const server = sshServerOf(repository);
  if (server === null || (server.host !== base.hostname && !server.host.endsWith(`.${base.hostname}`))) return null;
  return repository.split('/').slice(3).join('/');
}

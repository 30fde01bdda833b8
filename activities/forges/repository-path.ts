import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import { ForgeError } from './forge.ts';

/**
 * Splits the address of a repository below a server's `root` into its owner (which may have several parts) and its name. The
 * root may itself lie below a path. Throws ForgeError when the repository lies elsewhere.
 */
export function repositoryPath(repository: string, { root, forge }: { root: string; forge: string }) {
  const base = new URL(`${root.replace(/\/+$/, '')}/`);
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

/** Whether a repository lies below a server's address, by https. */
export function liesBelow(repository: string, root: string): boolean {
  const base = URL.parse(`${root.replace(/\/+$/, '')}/`);
  return base !== null && pathByHttp(repository, base) !== null;
}

/** Whether a repository is one of the server at an address, by https or by ssh. */
export function belongsTo(repository: string, root: string): boolean {
  const base = URL.parse(`${root.replace(/\/+$/, '')}/`);
  return base !== null && (pathBySsh(repository, base) ?? pathByHttp(repository, base)) !== null;
}

function pathByHttp(repository: string, base: URL): string | null {
  const url = URL.parse(repository);
  const isBelow = url?.origin === base.origin && url.pathname.startsWith(base.pathname);
  return isBelow ? url.pathname.slice(base.pathname.length) : null;
}

/** Servers have ssh under their own name, on whatever port, or under one below it, such as `ssh.github.com`. */
function pathBySsh(repository: string, base: URL): string | null {
  const server = sshServerOf(repository);
  if (server === null || (server.host !== base.hostname && !server.host.endsWith(`.${base.hostname}`))) return null;
  return repository.split('/').slice(3).join('/');
}

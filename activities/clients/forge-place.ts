import { ForgeError } from './forge.ts';

/**
 * Splits the address of a repository below a server's `root` into its owner (which may have several parts) and its name. The
 * root may itself lie below a path. Throws ForgeError when the repository lies elsewhere.
 */
export function repositoryPlace(repository: string, { root, forge }: { root: string; forge: string }) {
  const base = new URL(`${root.replace(/\/+$/, '')}/`);
  const url = URL.parse(repository);
  if (url?.origin === base.origin && url.pathname.startsWith(base.pathname)) {
    const path = url.pathname.slice(base.pathname.length).replace(/\.git$/, '');
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    if (parts.length > 0 && name !== '' && parts.every((part) => part !== ''))
      return { owner: parts.join('/'), name, path };
  }
  throw new ForgeError('not-found', `The repository does not lie on the ${forge} server that the project names.`);
}

/** Whether a repository lies below a server's address. */
export function liesBelow(repository: string, root: string): boolean {
  const base = URL.parse(`${root.replace(/\/+$/, '')}/`);
  const url = URL.parse(repository);
  return base !== null && url?.origin === base.origin && url.pathname.startsWith(base.pathname);
}

import { trimEndSlashes } from '../trim-end-slashes.ts';
export interface RepositoryRules {
  /** Hosts whose repositories are allowed, e.g. `github.com`; one with a port allows only that port. */
  allowedHosts: readonly string[];
  /** Folder below which repositories on this machine must be; null when none are allowed. */
  localRoot: string | null;
  /** Whether ssh addresses are accepted, for projects with their own key. */
  mayUseSsh?: boolean;
}

export type ParsedRepository =
  | {
      ok: true;
      kind: 'https';
      /** Canonical: lower-case host, no `.git`, no trailing slash. */
      repository: string;
      host: string;
      /** All but the last part of the path: `acme`, or `group/subgroup`. */
      owner: string;
      name: string;
    }
  | {
      ok: true;
      kind: 'ssh';
      /** Canonical: `ssh://user@host[:port]/owner/name`. */
      repository: string;
      /** Without the port. */
      host: string;
      owner: string;
      name: string;
    }
  /** `repository` is also the path: the form that is stored and passed to git. */
  | { ok: true; kind: 'local'; repository: string; path: string }
  | { ok: false; problem: string };

const maxRepositoryLength = 2048;
const httpsPattern = /^https:\/\/([^/]*)(?:\/(.*))?$/is;
export const authorityPattern = /^(?=.{1,255}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?$/;
const sshPattern = /^ssh:\/\/([^@/]*)@([^/]*)(?:\/(.*))?$/is;
/** In the form of `scp` and git: the part after the colon is a path, not a port. */
const scpPattern = /^([^@/:]*)@([^/:]*):\/?(.*)$/s;
const filePattern = /^file:\/\/(?:localhost)?(\/.*)$/is;
const userPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const segmentPattern = /^[A-Za-z0-9._~+-]{1,255}$/;
export const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Parses the address of a repository: https at an allowed host, a file:// URL or an absolute path below the local root,
 * or, if accepted, ssh at an allowed host. Everything else is rejected, so that the result can be passed to git. The
 * canonical form parses to itself. DNS and symbolic links are checked when it is opened.
 */
export function parseRepository(text: string, rules: RepositoryRules): ParsedRepository {
  const { allowedHosts, localRoot, mayUseSsh = false } = rules;
  if (text.trim() === '') return refused('is empty');
  if (text.length > maxRepositoryLength) return refused(`is longer than ${maxRepositoryLength} characters`);
  if (!text.isWellFormed() || invisible.test(text)) return refused('contains a control character');
  if (text.startsWith('/')) return parseLocal(text, localRoot);
  const [, filePath] = filePattern.exec(text) ?? [];
  if (filePath !== undefined) return parseFileUrl(filePath, localRoot);
  const [, user, sshAuthority, below = ''] = sshPattern.exec(text) ?? scpPattern.exec(text) ?? [];
  if (user !== undefined && sshAuthority !== undefined) {
    if (!mayUseSsh) return refused('uses ssh, which needs a project with its own ssh key');
    return parseSsh({ user, authority: sshAuthority, path: below }, allowedHosts);
  }
  const [, authority, path] = httpsPattern.exec(text) ?? [];
  if (authority === undefined) {
    const orPath = localRoot === null ? '' : ', or the absolute path of a repository on this machine';
    return refused(`must be an https:// address, such as https://github.com/owner/name${orPath}`);
  }
  return parseHttps(authority, path ?? '', allowedHosts);
}

function parseHttps(authority: string, path: string, allowedHosts: readonly string[]): ParsedRepository {
  if (authority.includes('@')) return refused('must not contain a user name or password');
  const host = authority.toLowerCase();
  if (!authorityPattern.test(host)) return refused('has no valid host');
  if (!isListed(host, allowedHosts)) return refused(notAllowed(allowedHosts));
  const names = parsePath(host, path);
  if (typeof names === 'string') return refused(names);
  return {
    ok: true,
    kind: 'https',
    repository: `https://${host}/${names.owner}/${names.name}`,
    host,
    ...names,
  };
}

/** A port other than the default has to be listed with its host, as for https. */
function parseSsh(
  { user, authority, path }: { user: string; authority: string; path: string },
  allowedHosts: readonly string[],
): ParsedRepository {
  if (!userPattern.test(user)) return refused('has no valid user name');
  const server = authority.toLowerCase().replace(/:22$/, '');
  if (!authorityPattern.test(server)) return refused('has no valid host');
  if (!isListed(server, allowedHosts)) return refused(notAllowed(allowedHosts));
  const [host = ''] = server.split(':');
  const names = parsePath(host, path);
  if (typeof names === 'string') return refused(names);
  return { ok: true, kind: 'ssh', repository: `ssh://${user}@${server}/${names.owner}/${names.name}`, host, ...names };
}

function isListed(host: string, allowedHosts: readonly string[]): boolean {
  return allowedHosts.some((allowed) => allowed.toLowerCase() === host);
}

function notAllowed(allowedHosts: readonly string[]): string {
  return `must be on a host that DOCKET_ALLOWED_HOSTS of the service lists (${allowedHosts.join(', ') || 'there is none'})`;
}

/** Returns the owner and name, or the problem of the path. */
function parsePath(host: string, path: string): { owner: string; name: string } | string {
  if (/[?#]/.test(path)) return 'must not contain "?" or "#"';
  const segments = path.replace(/\/$/, '').split('/');
  const name = (segments.pop() ?? '').replace(/\.git$/i, '');
  if (segments.length === 0) return `needs an owner and a name, such as https://${host}/owner/name`;
  if (host === 'github.com' && segments.length > 1)
    return 'must be https://github.com/owner/name with nothing after it';
  if (![...segments, name].every(isSegment)) return 'has a path that is not valid for a repository';
  return { owner: segments.join('/'), name };
}

/** Reports whether a part of a hosted repository's path is a valid name. */
export function isSegment(segment: string): boolean {
  return segmentPattern.test(segment) && segment !== '.' && segment !== '..' && !/\.git$/i.test(segment);
}

function parseFileUrl(encoded: string, localRoot: string | null): ParsedRepository {
  if (/[?#]/.test(encoded)) return refused('must not contain "?" or "#"');
  const path = decoded(encoded);
  if (path === null || invisible.test(path)) return refused('is not a valid file:// address');
  return parseLocal(path, localRoot);
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Reports whether two canonical addresses are those of one repository. Forges ignore the case of owners and names. */
export function isSameRepository(a: string, b: string): boolean {
  return a === b || (!a.startsWith('/') && a.toLowerCase() === b.toLowerCase());
}

/** Returns the full URL of a stored repository: the form that clients see. */
export function repositoryUrl(repository: string): string {
  if (!repository.startsWith('/')) return repository;
  return `file://${repository.split('/').map(encodeURIComponent).join('/')}`;
}

function parseLocal(text: string, localRoot: string | null): ParsedRepository {
  if (localRoot === null || !localRoot.startsWith('/'))
    return refused('must be an https:// address; repositories on this machine are not allowed here');
  const path = text.replace(/\/$/, '');
  if (path.split('/').slice(1).some(isSuspicious))
    return refused('must be the file:// address of a plain absolute path without ".", ".." or "//"');
  if (!path.startsWith(`${trimEndSlashes(localRoot)}/`))
    return refused('is outside DOCKET_LOCAL_REPOSITORIES, the folder for repositories on this machine');
  return { ok: true, kind: 'local', repository: path, path };
}

/** Reports whether a part of a path on this machine would lead elsewhere. */
export function isSuspicious(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..';
}

function refused(problem: string): ParsedRepository {
  return { ok: false, problem: `The repository ${problem}.` };
}

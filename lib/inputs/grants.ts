import { authorityPattern, invisible, isSegment, isSuspicious } from './repository.ts';
import { sshServerOf } from './ssh-keys.ts';

/**
 * Grants: which of the operator's resources an organization may use. The worker's own credential serves a hosted
 * repository only under a grant, merges into it only under one of its own, and a repository or directory on this machine
 * is opened only under one.
 */

/** Covers every resource. */
export const everything = '*';

/** The fields of a project that grants apply to. */
export interface UsedRepositories {
  repository: string;
  allowedRepositories: readonly string[];
  forgeUrl: string | null;
}

export type ParsedGrant = { ok: true; resource: string } | { ok: false; problem: string };

const maxResourceLength = 4_096;
const below = '/*';
/** Begins a grant to merge into hosted repositories with the worker's own credential. */
const merging = 'merge:';
const urlPattern = /^(https?):\/\/([^/]*)(?:\/(.*))?$/is;
const defaultPorts: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ };

/**
 * Parses what a grant covers: `*`, the address of a hosted repository, with `merge:` before it for merges, or a path on
 * this machine; with `/*` at the end, everything below. The canonical form parses to itself.
 */
export function parseGrant(text: string): ParsedGrant {
  if (text === everything) return { ok: true, resource: everything };
  const prefix = text.startsWith(merging) ? merging : '';
  const named = text.slice(prefix.length);
  const isBelow = named.endsWith(below);
  const target = isBelow ? targetBelow(named.slice(0, -below.length)) : targetOf(named);
  const isHosted = target !== null && target !== '' && !target.startsWith('/');
  if (target !== null && (isHosted || prefix === ''))
    return { ok: true, resource: prefix + target + (isBelow ? below : '') };
  const problem = `A grant must be https://host/owner/name, an absolute path, a prefix of either that ends with "/*", "merge:" and an https address, or "*".`;
  return { ok: false, problem };
}

/** Reports whether canonical resources cover the address of a hosted repository, or a path on this machine. */
export function covers(resources: readonly string[], text: string): boolean {
  if (resources.includes(everything)) return true;
  const target = targetOf(text);
  if (target === null) return false;
  return resources.some((resource) =>
    resource.endsWith(below) ? target.startsWith(resource.slice(0, -1)) : target === resource,
  );
}

/** Reports whether canonical resources cover merges into a hosted repository with the worker's own credential. */
export function coversMerges(resources: readonly string[], text: string): boolean {
  const ofMerges = resources.filter((resource) => resource === everything || resource.startsWith(merging));
  return covers(
    ofMerges.map((resource) => resource.replace(merging, '')),
    text,
  );
}

/** Returns the canonical resources that cover everything that another one covers. */
export function widerGrants(resources: readonly string[], resource: string): string[] {
  return resources.filter(
    (wide) => wide === everything || (wide.endsWith(below) && resource.startsWith(wide.slice(0, -1))),
  );
}

/**
 * Returns the address that a grant for a repository names: the path itself, or the repository's address on its forge. A
 * repository reached by ssh is at `forgeUrl`, or on the server with its own name.
 */
export function grantTargetOf(repository: string, forgeUrl: string | null): string {
  const ssh = sshServerOf(repository);
  if (ssh === null) return repository;
  const root = forgeUrl ?? `https://${ssh.host.replace(/^(?:alt)?ssh\./, '')}`;
  return [root, ...repository.split('/').slice(3)].join('/');
}

/** Returns one spelling for all names of the same resource; null for an invalid one. */
function targetOf(text: string): string | null {
  if (text.startsWith('/')) return pathOf(text.replace(/\/$/, '')) || null;
  const url = urlOf(text.replace(/\/$/, '').replace(/\.git$/i, ''));
  return url !== null && url.segments.length >= 2 ? [url.root, ...url.segments].join('/') : null;
}

/** Returns one spelling for a resource that includes everything below it, which may be a whole server or machine. */
function targetBelow(text: string): string | null {
  if (text === '' || text.startsWith('/')) return pathOf(text);
  const url = urlOf(text);
  return url === null ? null : [url.root, ...url.segments].join('/');
}

function pathOf(path: string): string | null {
  const isPlain = !path.split('/').slice(1).some(isNoName) && path.length <= maxResourceLength;
  return isPlain && path.isWellFormed() && !invisible.test(path) ? path : null;
}

function isNoName(segment: string): boolean {
  return isSuspicious(segment) || segment === everything;
}

/** Forges ignore the case of hosts, owners and names. */
function urlOf(text: string): { root: string; segments: string[] } | null {
  const [, scheme = '', authority = '', path] = urlPattern.exec(text.toLowerCase()) ?? [];
  const host = authority.replace(defaultPorts[scheme] ?? /$^/, '');
  if (!authorityPattern.test(host) || text.length > maxResourceLength) return null;
  const segments = path === undefined ? [] : path.split('/');
  return segments.every(isSegment) ? { root: `${scheme}://${host}`, segments } : null;
}

/** Returns why an organization may not use the worker's credential for a hosted repository, and what to do. */
export function noGrantForCredential(organizationId: string, target: string): string {
  return `The organization has no grant to use the service's credential for ${target}. Give the project its own token, or ask the operator to run "docket org grant ${organizationId} ${target}".`;
}

/** Returns why an organization may not merge with the worker's credential, and what to do. */
export function noGrantToMerge(organizationId: string, target: string): string {
  return `The organization has no grant to merge into ${target} with the service's credential. Merge on the forge, give the project its own token, or ask the operator to run "docket org grant ${organizationId} ${merging}${target}".`;
}

/** Returns why an organization may not use a path of this machine; the same whether or not it exists. */
export function noGrantForPath(organizationId: string, kind: 'repository' | 'directory', path: string): string {
  return `There is no ${kind} ${path} that the organization may use. If there should be, ask the operator to run "docket org grant ${organizationId} ${path}".`;
}

/**
 * Returns why an organization may not use repositories; null when it may. One on this machine needs a grant, and so
 * does a hosted one that uses the service's own credential.
 */
export function problemWithRepositories({
  organizationId,
  resources,
  repositories,
  forgeUrl = null,
  needsCredential,
}: {
  organizationId: string;
  resources: readonly string[];
  repositories: readonly string[];
  forgeUrl?: string | null;
  needsCredential: boolean;
}): string | null {
  for (const repository of repositories) {
    const target = grantTargetOf(repository, forgeUrl);
    const isLocal = repository.startsWith('/');
    if (covers(resources, target) || !(isLocal || needsCredential)) continue;
    return isLocal
      ? noGrantForPath(organizationId, 'repository', repository)
      : noGrantForCredential(organizationId, target);
  }
  return null;
}

/** Returns the resources that a change of a project adds: all of them if its forge moves to another server. */
export function addedRepositories(before: UsedRepositories, after: UsedRepositories): string[] {
  const known = before.forgeUrl === after.forgeUrl ? [before.repository, ...before.allowedRepositories] : [];
  return [after.repository, ...after.allowedRepositories].filter((repository) => !known.includes(repository));
}

/** Returns why a change is refused: a project's token is for one server. Null if it is allowed. */
export function problemWithToken(
  before: UsedRepositories & { hasCredential: boolean },
  after: UsedRepositories,
  isTokenGiven: boolean,
): string | null {
  const isKept = before.hasCredential && !isTokenGiven;
  const isElsewhere = before.forgeUrl !== after.forgeUrl || hostOf(before.repository) !== hostOf(after.repository);
  return isKept && isElsewhere
    ? "The project's token is for its current forge. Set the token of the new forge together with its address."
    : null;
}

/** Returns why an organization may not use a directory on this machine; null when it may. */
export function problemWithDirectory({
  organizationId,
  resources,
  directory,
}: {
  organizationId: string;
  resources: readonly string[];
  directory: string;
}): string | null {
  return covers(resources, directory) ? null : noGrantForPath(organizationId, 'directory', directory);
}

function hostOf(repository: string): string | null {
  return URL.canParse(repository) ? new URL(repository).host : null;
}

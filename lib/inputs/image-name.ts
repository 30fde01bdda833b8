/** An image in a registry, or in an archive of the operator's folder. */
export type ImageName =
  | { kind: 'registry'; repository: string; tag: string | null; digest: string | null; text: string }
  | { kind: 'archive'; file: string; text: string };

/** Images that jobs may use: one name, all tags of a repository, or all names that begin with `prefix`. */
export type AllowedImage = { kind: 'prefix'; prefix: string } | { kind: 'repository' | 'exact'; text: string };

const registryPattern = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/;
const pathPattern = /^[a-z\d]+(?:(?:[._-]|__)[a-z\d]+)*(?:\/[a-z\d]+(?:(?:[._-]|__)[a-z\d]+)*)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const digestPattern = /^sha256:[\da-f]{64}$/;
const filePattern = /^[A-Za-z\d][\w.-]{0,200}$/;
const archiveScheme = 'oci-archive:';
const maxNameLength = 500;

/** Parses the name of an image as Docker does: `python:3.13` is `docker.io/library/python:3.13`. Null if invalid. */
export function parseImageName(text: string): ImageName | null {
  if (text.length > maxNameLength) return null;
  if (text.startsWith(archiveScheme)) {
    const file = text.slice(archiveScheme.length);
    return filePattern.test(file) ? { kind: 'archive', file, text } : null;
  }
  const [named = '', digest = null, ...more] = text.split('@');
  const [, path = named, tag = null] = /^(.*):([^/:]*)$/.exec(named) ?? [];
  const repository = repositoryOf(path);
  if (repository === null || more.length > 0) return null;
  if (digest !== null && !digestPattern.test(digest)) return null;
  if (tag !== null && !tagPattern.test(tag)) return null;
  // a digest identifies the content, so a tag beside it is redundant, and some programs refuse both together
  const shown = digest === null ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
  return { kind: 'registry', repository, tag: digest === null ? (tag ?? 'latest') : null, digest, text: shown };
}

/** Parses the images that jobs may use, separated by commas. Null if one is invalid. */
export function parseAllowedImages(text: string): AllowedImage[] | null {
  const entries = text.split(',').map((entry) => entry.trim());
  const parsed = entries.filter((entry) => entry !== '').map(parseAllowedImage);
  return parsed.includes(null) ? null : parsed.filter((one) => one !== null);
}

/** Reports whether jobs may use an image. */
export function isAllowedImage(allowed: readonly AllowedImage[], name: ImageName): boolean {
  return allowed.some((one) => {
    if (one.kind === 'prefix') return name.text.startsWith(one.prefix);
    if (one.kind === 'exact') return name.text === one.text;
    return name.kind === 'registry' && name.repository === one.text;
  });
}

function parseAllowedImage(entry: string): AllowedImage | null {
  if (entry === `${archiveScheme}*`) return { kind: 'prefix', prefix: archiveScheme };
  if (entry.endsWith('/*')) {
    const prefix = entry.slice(0, -1);
    const [registry = '', ...path] = prefix.slice(0, -1).split('/');
    const isValid = isRegistry(registry) && (path.length === 0 || pathPattern.test(path.join('/')));
    return isValid ? { kind: 'prefix', prefix } : null;
  }
  const name = parseImageName(entry);
  if (name === null) return null;
  const isWhole = name.kind === 'registry' && name.digest === null && !/:[^/:]*$/.test(entry);
  return isWhole ? { kind: 'repository', text: name.repository } : { kind: 'exact', text: name.text };
}

function repositoryOf(text: string): string | null {
  const [first = '', ...rest] = text.split('/');
  const hasRegistry = rest.length > 0 && isRegistry(first);
  const path = hasRegistry ? rest.join('/') : text;
  if (!pathPattern.test(path)) return null;
  if (hasRegistry) return text;
  return `docker.io/${path.includes('/') ? path : `library/${path}`}`;
}

function isRegistry(text: string): boolean {
  return registryPattern.test(text) && (text === 'localhost' || /[.:]/.test(text));
}

import { posix } from 'node:path';
import { applyNavigation } from './apply-navigation.ts';
import type { Navigation } from './navigation.ts';
import type { Operation } from './openapi.ts';
import type { SourcePage } from './source-page.ts';

/** A file that describes an API, with its operations. */
export interface OperationFile {
  path: string;
  operations: Operation[];
}

/** Returns the pages of the operations that no other page documents. */
export function operationPages(
  { path, operations }: OperationFile,
  documented: ReadonlySet<Operation>,
  navigation: Navigation,
): SourcePage[] {
  const folder = path.replace(/\.(?:json|ya?ml)$/i, '');
  const taken = new Set<string>();
  return operations
    .filter((operation) => !documented.has(operation))
    .map((operation) => {
      let name = operation.slug;
      for (let repeat = 1; taken.has(name); repeat++) name = `${operation.slug}-${repeat}`;
      taken.add(name);
      const { title, description, tags, isHidden, isDeprecated, lead, details } = operation;
      const metadata = { title, ...(description && { description }), ...(tags && { tags }) };
      const content = [lead, details].filter(Boolean).join('\n\n');
      const page = { path: `${folder}/${name}`, content, metadata, isHidden, isDeprecated, boost: null, values: {} };
      return applyNavigation(page, { navigation, key: `${operation.method} ${operation.route}`, location: null });
    });
}

/** Front matter names an operation as `METHOD /path` or `webhook name`, preceded by the file if there are several. */
export function operationNamed(text: string | undefined, apis: OperationFile[]): Operation | null {
  const match = text === undefined ? null : /(?:^|\s)([A-Za-z]{3,7})\s+(\S+)$/.exec(text);
  if (match === null || text === undefined) return null;
  const file = text.slice(0, match.index).replace(/^\/+/, '').trim();
  const candidates = apis.filter(
    (api) => file === '' || api.path === file || api.path.endsWith(`/${posix.basename(file)}`),
  );
  const operations = (candidates.length > 0 ? candidates : apis).flatMap((api) => api.operations);
  const named = match[1]?.toUpperCase();
  return operations.find(({ method, route }) => method.toUpperCase() === named && route === match[2]) ?? null;
}

import { isRecord, textOf } from './front-matter.ts';

const maxDepth = 5;
const maxLines = 200;
/** Longest list of values, default or name, in characters. */
const maxFactLength = 2_000;

/** Resolves a reference inside the file (`#/components/…`); returns other values unchanged. */
export function resolveReference(api: Record<string, unknown>, value: unknown): unknown {
  let current = value;
  for (let hops = 0; hops < 10; hops++) {
    const reference = isRecord(current) ? current.$ref : undefined;
    if (typeof reference !== 'string') return current;
    if (!reference.startsWith('#/')) return undefined;
    current = reference
      .slice(2)
      .split('/')
      .reduce<unknown>(
        (at, key) => (isRecord(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
        api,
      );
  }
  return undefined;
}

/** Returns the bodies of a request or response: media type, and fields as a list. */
export function describeContent(api: Record<string, unknown>, content: unknown): string {
  if (!isRecord(content)) return '';
  const parts: string[] = [];
  for (const [mediaType, media] of Object.entries(content).slice(0, 4)) {
    const lines: string[] = [];
    if (isRecord(media)) listFields(api, media.schema, lines, 0);
    parts.push(joined([`\`${mediaType}\``, lines.join('\n')]));
  }
  return parts.join('\n\n');
}

/** Returns a short description of a schema: `string (uuid)`, `array of User`, `one of: active, failed`. */
export function describeSchema(api: Record<string, unknown>, found: unknown): string {
  const schema = resolveReference(api, found);
  if (!isRecord(schema)) return '';
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : textOf(schema.type);
  const format = textOf(schema.format);
  const values = Array.isArray(schema.enum)
    ? `one of: ${schema.enum.slice(0, 40).join(', ').slice(0, maxFactLength)}`
    : undefined;
  const items = type === 'array' ? `of ${describeSchema(api, itemsOnce(schema))}` : undefined;
  const fallback =
    schema.default === undefined || typeof schema.default === 'object'
      ? undefined
      : `default ${String(schema.default).slice(0, maxFactLength)}`;
  return [type, format === undefined ? undefined : `(${format})`, items, values, fallback].filter(Boolean).join(' ');
}

/** Returns the items of an array, without descending into nested arrays. */
function itemsOnce(schema: Record<string, unknown>): unknown {
  return isRecord(schema.items) && schema.items.type === 'array' ? { type: 'lists' } : schema.items;
}

function listFields(api: Record<string, unknown>, found: unknown, lines: string[], depth: number): void {
  const schema = resolveReference(api, found);
  if (!isRecord(schema) || depth > maxDepth || lines.length > maxLines) return;
  for (const key of ['allOf', 'oneOf', 'anyOf']) {
    const options = schema[key];
    if (Array.isArray(options)) for (const option of options.slice(0, 20)) listFields(api, option, lines, depth + 1);
  }
  if (schema.items !== undefined) listFields(api, schema.items, lines, depth + 1);
  if (!isRecord(schema.properties)) return;
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, property] of Object.entries(schema.properties)) {
    if (lines.length > maxLines) return;
    const inner = resolveReference(api, property);
    const text = isRecord(inner) ? textOf(inner.description)?.replace(/\s+/g, ' ') : undefined;
    const facts = [describeSchema(api, inner), required.includes(name) ? 'required' : ''].filter(Boolean).join(', ');
    lines.push(
      `${'  '.repeat(Math.min(depth, 3))}- \`${name.slice(0, maxFactLength)}\`${facts === '' ? '' : ` (${facts})`}${text === undefined ? '' : `: ${text}`}`,
    );
    listFields(api, inner, lines, depth + 1);
  }
}

/** Joins the parts of a text that are not empty. */
export function joined(parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

import type { Random } from '../chaos/plans/random.ts';
import type { Schema } from './description.ts';
import type { Json } from './odd-values.ts';

/** A rule for a field’s name takes precedence over its schema. */
export type Hints = Record<string, () => Json>;

/** A value that a schema takes, as far as the schema says. */
export function sampleOf(schema: Schema, random: Random, hints: Hints = {}): Json {
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return random.pick<Json>(schema['enum']);
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return sampleOf(random.pick<Schema>(choices), random, hints);
  const type = Array.isArray(schema['type']) ? random.pick<string>(schema['type']) : schema['type'];
  switch (type) {
    case 'object':
      return objectOf(schema, random, hints);
    case 'array':
      return Array.from({ length: random.between(schema['minItems'] ?? 0, Math.max(schema['minItems'] ?? 0, 3)) }, () =>
        sampleOf(schema['items'] ?? {}, random, hints),
      );
    case 'integer':
    case 'number':
      return random.between(schema['minimum'] ?? 0, Math.min(schema['maximum'] ?? 100, (schema['minimum'] ?? 0) + 100));
    case 'boolean':
      return random.next() < 0.5;
    case 'null':
      return null;
    case 'string':
      return textOf(schema, random);
    default:
      return random.pick<Json>(['x', 1, null, {}]);
  }
}

function objectOf(schema: Schema, random: Random, hints: Hints): Json {
  const required = new Set<string>(schema['required'] ?? []);
  const kept = Object.entries<Schema>(schema['properties'] ?? {}).filter(
    ([name]) => required.has(name) || random.next() < 0.4,
  );
  return Object.fromEntries(
    kept.map(([name, item]) => [name, (hints[name] ?? (() => sampleOf(item, random, hints)))()]),
  );
}

function textOf(schema: Schema, random: Random): string {
  const words = ['retry', 'limit', 'docs', 'guides/install.md', 'main', 'x', 'Grüße', '日本'];
  const text = Array.from({ length: random.between(1, 4) }, () => random.pick(words)).join(' ');
  const shortest = schema['minLength'] ?? 0;
  return text.padEnd(shortest, 'x').slice(0, schema['maxLength'] ?? 200);
}

import type { JSONSchema7, JSONSchema7Definition } from '@ai-sdk/provider';
import { McpProblem } from './mcp-problem.ts';

/** A node of a server's schema, which may hold anything. */
type Node = Record<string, unknown>;

export interface ToolSchema {
  inputSchema: JSONSchema7;
  /** Whether optional fields are left out because of their names. */
  isPartial: boolean;
}

const maxNodes = 500;
const maxDepth = 12;
const maxChoices = 100;
const maxTextLength = 1_000;
/** Providers reject a request with other names. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;
const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;
type TypeName = (typeof typeNames)[number];
const limits = [
  ['minimum', ['number', 'integer'], Number.isFinite],
  ['maximum', ['number', 'integer'], Number.isFinite],
  ['minLength', ['string'], isCount],
  ['maxLength', ['string'], isCount],
  ['minItems', ['array'], isCount],
  ['maxItems', ['array'], isCount],
] as const;

/**
 * Returns the part of a server's schema that models need, in a form that every provider accepts: an object of fields,
 * whose nodes have only known keywords with valid values, and types and `items` wherever a provider wants them; without
 * patterns and formats, and with its own definitions instead of references. Throws McpProblem.
 */
export function toolSchema(schema: unknown): ToolSchema {
  let nodes = 0;
  let isPartial = false;

  /** Merges what a node refers to, and `allOf`, into it. `open` has the references that lead to it. */
  function resolved(given: unknown, open: ReadonlySet<string>): { node: Node; open: ReadonlySet<string> } {
    nodes += 1;
    if (nodes > maxNodes) throw tooComplex();
    const { $ref: ref, allOf, ...own } = recordOf(given);
    const parts = listOf(allOf).map((part) => resolved(part, open));
    // a schema that contains itself ends here with one that accepts anything
    if (typeof ref === 'string' && !open.has(ref))
      parts.unshift(resolved(definitionAt(schema, ref), new Set([...open, ref])));
    return parts.reduce((whole, part) => ({ node: bothOf(whole.node, part.node), open: whole.open.union(part.open) }), {
      node: own,
      open,
    });
  }

  /** Returns a node with the fields of all its choices, because providers accept no choices at the top. */
  function withoutChoices(given: unknown, before: ReadonlySet<string>): ReturnType<typeof resolved> {
    const { node, open } = resolved(given, before);
    const choices = choicesOf(node)
      .map((choice) => withoutChoices(choice, open))
      .filter((choice) => isAny(typesOf(choice.node), ['object']));
    if (choices.length === 0) return { node, open };
    return {
      node: bothOf(node, eitherOf(choices.map((choice) => choice.node))),
      open: choices.reduce((all, choice) => all.union(choice.open), open),
    };
  }

  function schemaOf(given: unknown, before: ReadonlySet<string>, depth: number): JSONSchema7 {
    if (depth > maxDepth) throw tooComplex();
    const { node, open } = resolved(given, before);
    const types = typesOf(node);
    const choices = choicesOf(node).map((choice) => schemaOf(choice, open, depth + 1));
    return {
      ...described(node),
      ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
      ...valuesOf(node, types),
      ...limitsOf(node, types),
      ...(types.includes('object') && fieldsOf(node, open, depth + 1)),
      ...(types.includes('array') && { items: schemaOf(itemsOf(node), open, depth + 1) }),
      ...(choices.length > 0 && { anyOf: distinct(choices) }),
    };
  }

  function fieldsOf(node: Node, open: ReadonlySet<string>, depth: number): JSONSchema7 {
    const { properties, additionalProperties: additional } = node;
    const given = new Map(Object.entries(recordOf(properties)));
    const required = requiredOf(node);
    // a required field without a schema accepts anything
    const names = [...new Set([...given.keys(), ...required])];
    const [usual, unusual] = [names.filter(isUsual), names.filter((name) => !isUsual(name))];
    if (unusual.some((name) => required.includes(name)))
      throw new McpProblem('has a tool that requires a field with an unusual name');
    isPartial ||= unusual.length > 0;
    const fields = usual.map((name) => [name, schemaOf(given.get(name), open, depth)] as const);
    return {
      ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
      ...(required.length > 0 && { required }),
      ...(additional !== undefined && { additionalProperties: additionalOf(additional, open, depth) }),
    };
  }

  function additionalOf(given: unknown, open: ReadonlySet<string>, depth: number): JSONSchema7Definition {
    return typeof given === 'boolean' ? given : schemaOf(given, open, depth);
  }

  const { node, open } = withoutChoices(schema, new Set(['#']));
  if (!isRecord(schema) || !isAny(typesOf(node), ['object']))
    throw new McpProblem('has a tool whose input is no object');
  const inputSchema: JSONSchema7 = { ...described(node), type: 'object', properties: {}, ...fieldsOf(node, open, 1) };
  return { inputSchema, isPartial };
}

function tooComplex(): McpProblem {
  return new McpProblem('has a tool whose input is too complex');
}

/** Returns what a reference within a schema leads to. */
function definitionAt(schema: unknown, ref: string): unknown {
  if (!/^#(?:\/|$)/.test(ref) || ref.length > 500) throw new McpProblem('has a tool with a reference in its input');
  const names = ref.split('/').slice(1);
  return names.reduce((found, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return Object.hasOwn(Object(found), key) ? Object(found)[key] : undefined;
  }, schema);
}

/** Returns the intersection of two nodes. For most keywords, the first node that has one decides. */
function bothOf(a: Node, b: Node): Node {
  const properties = joined([a, b], 'allOf');
  return {
    ...b,
    ...a,
    ...(properties !== null && { properties }),
    required: [...requiredOf(a), ...requiredOf(b)],
  };
}

/** Returns a node for objects that one of several nodes accepts. */
function eitherOf(choices: Node[]): Node {
  const properties = joined(choices, 'anyOf');
  const required = choices.map((choice) => new Set(requiredOf(choice))).reduce((all, names) => all.intersection(names));
  const isClosed = choices.every((choice) => choice['additionalProperties'] === false);
  return {
    ...(properties !== null && { properties }),
    required: [...required],
    ...(isClosed && { additionalProperties: false }),
  };
}

/** Returns the fields of all nodes. A field of several has a schema of all of theirs. */
function joined(nodes: Node[], combine: 'allOf' | 'anyOf'): Node | null {
  const fields = nodes.flatMap(({ properties }) => Object.entries(recordOf(properties)));
  const byName = Map.groupBy(fields, ([name]) => name);
  if (byName.size > maxNodes) throw tooComplex();
  if (byName.size === 0) return null;
  return Object.fromEntries(
    [...byName].map(([name, entries]) => {
      const schemas = [...new Set(entries.map(([, schema]) => schema))];
      return [name, schemas.length === 1 ? schemas[0] : { [combine]: schemas }];
    }),
  );
}

/** Returns the types of a node, or the types that its other keywords imply. */
function typesOf(node: Node): TypeName[] {
  const { type, properties, required, items, prefixItems } = node;
  const types = typeNames.filter((name) => (Array.isArray(type) ? type.includes(name) : type === name));
  if (types.length > 0) return types;
  if (isRecord(properties) || listOf(required).length > 0) return ['object'];
  if (items !== undefined || prefixItems !== undefined) return ['array'];
  const values = givenValues(node);
  return typeNames.filter((name) => name !== 'integer' && values.some((value) => isOf(value, name)));
}

/** Reports whether values of one of these types may be accepted. */
function isAny(types: readonly TypeName[], wanted: readonly TypeName[]): boolean {
  return types.length === 0 || wanted.some((name) => types.includes(name));
}

function valuesOf(node: Node, types: TypeName[]): JSONSchema7 {
  const values = givenValues(node).filter((value) => types.some((type) => isOf(value, type)));
  return values.length > 0 ? { enum: [...new Set(values)] } : {};
}

function givenValues({ const: only, enum: choices }: Node) {
  return (only === undefined ? listOf(choices) : [only]).filter(isScalar);
}

function isOf(value: unknown, type: TypeName): boolean {
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type && value !== null;
}

function limitsOf(node: Node, types: TypeName[]): JSONSchema7 {
  const kept = limits.filter(([name, of, isValid]) => isAny(types, of) && isValid(node[name]));
  return Object.fromEntries(kept.map(([name]) => [name, node[name]]));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns one schema for all items, which those of a tuple share. */
function itemsOf({ items, prefixItems }: Node): unknown {
  const tuple = [...listOf(prefixItems), ...(Array.isArray(items) ? listOf(items) : [])];
  if (tuple.length === 0) return items;
  return { anyOf: [...tuple, ...(isRecord(items) ? [items] : [])] };
}

function choicesOf({ anyOf, oneOf }: Node): unknown[] {
  return [listOf(anyOf), listOf(oneOf)].find((list) => list.length > 0) ?? [];
}

function distinct(schemas: JSONSchema7[]): JSONSchema7[] {
  return [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
}

function requiredOf({ required }: Node): string[] {
  return [...new Set(listOf(required).filter((name) => typeof name === 'string'))];
}

function isUsual(name: string): boolean {
  return propertyName.test(name);
}

function described({ description }: Node): JSONSchema7 {
  return typeof description === 'string' ? { description: description.slice(0, maxTextLength).toWellFormed() } : {};
}

function isScalar(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= maxTextLength && value.isWellFormed();
  return value === null || typeof value === 'boolean' || Number.isFinite(value);
}

/** Returns the beginning of a list, or an empty one for another value. */
function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.slice(0, maxChoices) : [];
}

function isRecord(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Node {
  return isRecord(value) ? value : {};
}

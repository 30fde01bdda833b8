import type { JSONSchema7, JSONSchema7Definition } from '@ai-sdk/provider';
import { McpProblem } from './mcp-problem.ts';

const mostNodes = 500;
const deepest = 12;
const mostChoices = 100;
const longestText = 1_000;
/** Providers reject a request with other names. */
const propertyName = /^[A-Za-z0-9_.-]{1,64}$/;
const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;
const numbers = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;

/**
 * Returns the part of a server's schema that models need, in a form that every provider accepts: without patterns and
 * formats, and with its own definitions in place of references. Throws McpProblem.
 */
export function toolSchema(schema: object): JSONSchema7 {
  let nodes = 0;

  function schemaOf(given: unknown, open: readonly string[]): JSONSchema7 {
    nodes += 1;
    if (nodes > mostNodes || open.length > deepest) throw new McpProblem('has a tool whose input is too complex');
    const node = recordOf(given);
    const { $ref: ref, description } = node;
    if (typeof ref === 'string') {
      // a schema that contains itself ends here with one that accepts anything
      const found = open.includes(ref) ? {} : definitionAt(ref);
      return { ...schemaOf(found, [...open, ref]), ...described(description) };
    }
    const inner = [...open, ''];
    const properties = Object.entries(recordOf(node['properties'])).map(([name, property]) => {
      if (!propertyName.test(name)) throw new McpProblem('has a tool whose input has a field with an unusual name');
      return [name, schemaOf(property, inner)] as const;
    });
    const { items, anyOf, oneOf, required, additionalProperties: additional } = node;
    const choices = [anyOf, oneOf].find((list) => Array.isArray(list));
    return {
      ...described(description),
      ...typed(node),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(Array.isArray(required) && {
        required: required.filter((name) => typeof name === 'string').slice(0, mostChoices),
      }),
      ...(isRecord(items) && { items: schemaOf(items, inner) }),
      ...(Array.isArray(choices) && { anyOf: choices.slice(0, mostChoices).map((choice) => schemaOf(choice, inner)) }),
      ...(additional !== undefined && { additionalProperties: additionalOf(additional, inner) }),
    };
  }

  function additionalOf(given: unknown, open: readonly string[]): JSONSchema7Definition {
    return typeof given === 'boolean' ? given : schemaOf(given, open);
  }

  function definitionAt(ref: string): unknown {
    const [, group, name] = /^#\/(\$defs|definitions)\/([^/]{1,200})$/.exec(ref) ?? [];
    if (group === undefined || name === undefined) throw new McpProblem('has a tool with a reference in its input');
    const definitions = recordOf(recordOf(schema)[group]);
    return Object.hasOwn(definitions, name) ? definitions[name] : {};
  }

  const whole = schemaOf(schema, []);
  if (whole.type !== undefined && whole.type !== 'object') throw new McpProblem('has a tool whose input is no object');
  return { ...whole, type: 'object', properties: whole.properties ?? {} };
}

function typed(node: Record<string, unknown>): JSONSchema7 {
  const { type, enum: choices, const: only } = node;
  const types = (Array.isArray(type) ? type : [type]).flatMap(
    (name) => typeNames.find((known) => known === name) ?? [],
  );
  const values = (only === undefined ? (Array.isArray(choices) ? choices : []) : [only]).filter(isScalar);
  const [first] = types;
  const limits = numbers.filter((name) => typeof node[name] === 'number').map((name) => [name, node[name]]);
  return {
    ...(first !== undefined && { type: types.length === 1 ? first : types }),
    ...(values.length > 0 && { enum: values.slice(0, mostChoices) }),
    ...Object.fromEntries(limits),
  };
}

function described(description: unknown): JSONSchema7 {
  return typeof description === 'string' ? { description: description.slice(0, longestText).toWellFormed() } : {};
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

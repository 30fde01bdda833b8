import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JSONSchema7 } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { McpProblem } from '../../../../activities/mcp/mcp-problem.ts';
import { toolSchema } from '../../../../activities/mcp/tool-schema.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const offered = (schema: object) => toolSchema(schema).inputSchema;
/** Returns what is offered for one field. */
const field = (schema: unknown, more: object = {}) =>
  offered({ type: 'object', properties: { a: schema }, ...more }).properties!['a'];

const E = { type: 'string', enum: ['x', 'y'] };
const list = { type: 'array', items: { type: 'integer' } };

it.each<[what: string, schema: unknown, expected: object]>([
  ['an array without items', { type: 'array' }, { type: 'array', items: {} }],
  ['items that accept anything', { type: ['array', 'null'], items: true }, { type: ['array', 'null'], items: {} }],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
  ],
  [
    'a tuple of one type',
    { items: [{ type: 'string' }, { type: 'string' }] },
    { type: 'array', items: { anyOf: [{ type: 'string' }] } },
  ],
  ['limits that are no counts', { type: 'string', minLength: -1, maxLength: 1.5 }, { type: 'string' }],
  ['a limit of another type', { type: 'integer', minimum: 1, maxItems: 2 }, { type: 'integer', minimum: 1 }],
  ['a number that JSON does not have', { type: 'number', maximum: JSON.parse('1e999') }, { type: 'number' }],
  ['types and values twice', { type: ['string', 'string'], enum: ['x', 'x', 1] }, { type: 'string', enum: ['x'] }],
  ['values without a type', { enum: ['x', null] }, { type: ['string', 'null'], enum: ['x', null] }],
  ['one part', { allOf: [{ $ref: '#/$defs/E' }], description: 'D', default: 'x' }, { ...E, description: 'D' }],
  [
    'parts',
    { allOf: [{ properties: { b: E }, required: ['b'] }, { properties: { c: list, b: { description: 'B' } } }] },
    { type: 'object', properties: { b: { ...E, description: 'B' }, c: list }, required: ['b'] },
  ],
  ['a reference to a field', { $ref: '#/properties/b' }, list],
  ['an escaped reference', { $ref: '#/$defs/a~1b' }, { type: 'boolean' }],
  ['a reference to the whole', { type: 'array', items: { $ref: '#' } }, { type: 'array', items: {} }],
  [
    'a required field without a schema',
    { required: ['b', 'b'] },
    { type: 'object', properties: { b: {} }, required: ['b'] },
  ],
  ['no choice', { type: 'string', anyOf: [] }, { type: 'string' }],
])('puts %s into the form that providers accept', (_what, schema, expected) => {
  const more = { properties: { a: schema, b: list }, $defs: { E, 'a/b': { type: 'boolean' } } };
  expect(field(schema, more)).toEqual(expected);
});

it.each<[what: string, schema: object, expected: JSONSchema7]>([
  [
    'choices of required fields',
    { type: 'object', properties: { a: E, b: list }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    {
      type: 'object',
      properties: { a: { type: 'string', enum: ['x', 'y'] }, b: { type: 'array', items: { type: 'integer' } } },
    },
  ],
  [
    'choices of objects',
    {
      anyOf: [
        {
          type: 'object',
          properties: { kind: { const: 'x' }, id: E, p: {} },
          required: ['kind', 'id'],
          additionalProperties: false,
        },
        { $ref: '#/$defs/Other' },
        { type: 'null' },
      ],
      $defs: {
        Other: {
          properties: { kind: { const: 'y' }, id: { ...E } },
          required: ['id', 'kind'],
          additionalProperties: false,
        },
      },
    },
    {
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', enum: ['x'] },
            { type: 'string', enum: ['y'] },
          ],
        },
        id: { anyOf: [{ type: 'string', enum: ['x', 'y'] }] },
        p: {},
      },
      required: ['kind', 'id'],
      additionalProperties: false,
    },
  ],
  ['values of the whole', { type: ['object', 'null'], enum: ['x'], minLength: 1 }, { type: 'object', properties: {} }],
  ['nothing', {}, { type: 'object', properties: {} }],
  [
    'parts of the whole',
    { allOf: [{ properties: { a: E } }], not: {} },
    { type: 'object', properties: { a: { type: 'string', enum: ['x', 'y'] } } },
  ],
])('has only fields at the top, for %s', (_what, schema, expected) => {
  expect(offered(schema)).toEqual(expected);
});

it('leaves out an optional field that models cannot name, and refuses a required one', () => {
  const schema = { type: 'object', properties: { $filter: E, a: { properties: { 'b c': {} } } } };
  expect(toolSchema(schema)).toEqual({
    inputSchema: { type: 'object', properties: { a: { type: 'object' } } },
    isPartial: true,
  });
  expect(toolSchema({ properties: { a: {} } }).isPartial).toBe(false);
  expect(() => toolSchema({ ...schema, required: ['$filter'] })).toThrow(McpProblem);
});

it('ends with schemas that refer to themselves in every way, and with very large ones', () => {
  const ref = { $ref: '#/$defs/N' };
  const selves = [
    ref,
    { allOf: [ref, ref] },
    { anyOf: [ref, { items: ref }] },
    { properties: { a: { allOf: [ref] } } },
  ];
  for (const N of selves) expect(isAccepted(offered({ properties: { a: ref }, $defs: { N } }))).toBe(true);
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, E]));
  const chain = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]),
  );
  const large = [
    { properties: wide },
    { allOf: Array.from({ length: 90 }, () => ({ $ref: '#/$defs/W' })), $defs: { W: { properties: wide } } },
    { properties: { a: { $ref: '#/$defs/d0' } }, $defs: chain },
  ];
  const began = performance.now();
  for (const schema of large) expect(() => toolSchema(schema)).toThrow('too complex');
  // half a minute where the fields of all parts are merged before they are counted
  expect(performance.now() - began).toBeLessThan(5_000);
});

const ajv = new Ajv2020({ strict: false });
const allowed = ['type', 'description', 'properties', 'required', 'additionalProperties'];
const nested = [
  ...allowed,
  'items',
  'anyOf',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
];

/** Reports whether a schema is valid, and within what the providers of models accept for the input of a tool. */
function isAccepted(schema: JSONSchema7): boolean {
  const sent = JSON.parse(JSON.stringify(schema)) as JSONSchema7;
  const isRoot = sent.type === 'object' && Object.keys(sent).every((key) => allowed.includes(key));
  return isRoot && sent.properties !== undefined && ajv.validateSchema(sent) === true && isNodeAccepted(sent);
}

function isNodeAccepted(node: JSONSchema7): boolean {
  const { type, properties = {}, required = [], items, anyOf = [], additionalProperties: more = true } = node;
  const types = [type ?? []].flat();
  const children = [...Object.values(properties), ...anyOf, ...(items === undefined ? [] : [items]), more].flat();
  return (
    Object.keys(node).every((key) => nested.includes(key)) &&
    types.includes('array') === (items !== undefined) &&
    (types.includes('object') || (properties === node.properties) === false) &&
    Object.keys(properties).every((name) => /^[A-Za-z0-9_.-]{1,64}$/.test(name)) &&
    required.every((name) => Object.hasOwn(properties, name)) &&
    (node.enum ?? []).every((value) => types.some((one) => ajv.validate({ type: one }, value))) &&
    children.every((child) => typeof child === 'boolean' || isNodeAccepted(child as JSONSchema7))
  );
}

/** Schemas with every keyword, whose values are right or anything. */
const schemas = fc.letrec((tie) => {
  const node = tie('node');
  const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', '$filter', 'x y', '');
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'file', 7);
  const value = fc.oneof(
    fc.constantFrom('x', '\ud800', 1, 1.5, -1, true, null, Infinity),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const nodes = fc.oneof(fc.array(node, { maxLength: 3 }), value);
  const named = fc.oneof({ weight: 5, arbitrary: fc.dictionary(name, node, { maxKeys: 3 }) }, value);
  const ref = fc.constantFrom('#', '#/$defs/a', '#/definitions/b', '#/properties/a', '#/anyOf/0', '#/nothing', 'x:y');
  const limit = fc.constantFrom(0, 1, 2 ** 60, -1, 1.5, Infinity, '1', null);
  const keywords = {
    type: fc.oneof(type, fc.array(type, { maxLength: 3 })),
    properties: named,
    required: fc.oneof(fc.array(fc.oneof(name, value), { maxLength: 3 }), value),
    additionalProperties: fc.oneof(fc.boolean(), node),
    items: fc.oneof(node, nodes),
    prefixItems: nodes,
    allOf: nodes,
    anyOf: nodes,
    oneOf: nodes,
    enum: fc.oneof(fc.array(value, { maxLength: 3 }), value),
    const: value,
    $ref: ref,
    $defs: named,
    definitions: named,
    description: value,
    not: node,
    pattern: value,
    ...Object.fromEntries(nested.slice(-6).map((keyword) => [keyword, limit])),
  };
  return { node: fc.oneof({ maxDepth: 4 }, value, fc.record(keywords, { requiredKeys: [] })) };
}).node;

it('offers every schema in a form that providers accept, or refuses it with a reason', () => {
  let accepted = 0;
  const runs = propertyRuns(300);
  const inputs = fc.record({ type: fc.constant('object'), properties: fc.record({ a: schemas }), $defs: schemas });
  fc.assert(
    fc.property(fc.oneof(schemas, inputs), (schema) => {
      try {
        const { inputSchema } = toolSchema(schema);
        accepted += 1;
        expect(inputSchema).toSatisfy(isAccepted);
      } catch (error) {
        if (!(error instanceof McpProblem)) throw error;
      }
    }),
    { numRuns: runs },
  );
  expect(accepted).toBeGreaterThan(runs / 4);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ActionSignature,
  DocumentError,
  mergedTypes,
  parseActionDocument,
  placesOfError,
  printActionDocument,
  reachable,
  unusedTypes,
  withSignature,
  withoutTypes,
} from './action-document.ts';
import type { JsonObject } from './json.ts';

const TYPES: JsonObject = {
  input_objects: [
    { name: 'Cart', fields: [{ name: 'items', type: '[Item!]!' }] },
    { name: 'Item', fields: [{ name: 'id', type: 'ID!' }] },
  ],
  objects: [
    {
      name: 'Receipt',
      description: 'What was\nbought.',
      fields: [
        { name: 'total', type: 'Money!', description: 'With tax.' },
        { name: 'state', type: 'State' },
        { name: 'customer_id', type: 'Int!' },
      ],
      relationships: [{ name: 'customer', type: 'object', remote_table: 'customer', field_mapping: { customer_id: 'id' } }],
    },
    { name: 'Other', fields: [{ name: 'id', type: 'ID' }] },
  ],
  scalars: [{ name: 'Money' }],
  enums: [{ name: 'State', values: [{ value: 'PAID' }, { value: 'FREE', is_deprecated: true }] }],
};
const CHECKOUT: ActionSignature = {
  name: 'checkout',
  type: 'mutation',
  arguments: [{ name: 'cart', type: 'Cart!', description: 'What is bought.' }],
  outputType: 'Receipt!',
  description: 'Buys a cart.',
};
const SHOWN = new Set(['Cart', 'Item', 'Receipt', 'Money', 'State']);

describe('actions as SDL', () => {
  it('survive being printed with their types and read again', () => {
    const used = reachable(TYPES, ['Cart!', 'Receipt!']);
    expect(used).toEqual(SHOWN);
    const text = printActionDocument([CHECKOUT], TYPES, used);
    expect(text).toContain('type Mutation {\n  """Buys a cart."""\n  checkout(\n    "What is bought." cart: Cart!\n  ): Receipt!\n}');
    expect(text).toContain('  FREE @deprecated\n');
    expect(text).not.toContain('Other');
    const { actions, types } = parseActionDocument(text);
    expect(actions).toEqual([CHECKOUT]);
    expect(mergedTypes(TYPES, used, types)).toEqual(TYPES);
  });

  it('survive any description', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\r', ' ', 'a', '#', '{', '\t'), minLength: 1 }), (description) => {
        const { actions } = parseActionDocument(
          printActionDocument([{ ...CHECKOUT, description, arguments: [{ name: 'a', type: 'Int', description }] }], {}),
        );
        expect(actions[0]?.description).toBe(description);
        expect(actions[0]?.arguments[0]?.description).toBe(description);
      }),
    );
  });

  it.each([
    ['type Mutation { a(b: Int = 1): Int }', 'an argument cannot have a default value'],
    ['type Mutation { a: [Int }', 'line 1: expected ]'],
    ['type T { a(b: Int): Int }', 'fields of custom types cannot have arguments'],
    ['union A = B | C', 'expected type, input, enum or scalar instead of union'],
    ['scalar A\nscalar A', 'line 2: the type A is defined twice'],
    ['type T {}', 'expected a field'],
    ['type T { a: Int ? }', 'unexpected ?'],
    ['type T { a: Int', 'expected }'],
    ['enum E { A @skip }', 'only the directive @deprecated'],
  ])('rejects %s', (text, message) => {
    expect(() => parseActionDocument(text)).toThrow(DocumentError);
    expect(() => parseActionDocument(text)).toThrow(message);
  });
});

describe('merging edited custom types', () => {
  it('keeps hidden types, and the relationships of edited ones', () => {
    const { types } = parseActionDocument('type Receipt { customer_id: Int! total: Int } scalar New');
    const merged = mergedTypes(TYPES, SHOWN, types);
    expect(merged).toEqual({
      input_objects: [],
      objects: [
        {
          name: 'Receipt',
          fields: [
            { name: 'customer_id', type: 'Int!' },
            { name: 'total', type: 'Int' },
          ],
          relationships: (TYPES['objects'] as JsonObject[])[0]?.['relationships'],
        },
        { name: 'Other', fields: [{ name: 'id', type: 'ID' }] },
      ],
      scalars: [{ name: 'New' }],
      enums: [],
    });
  });

  it('lets a type become an enum', () => {
    const merged = mergedTypes(TYPES, SHOWN, parseActionDocument('enum Money { EUR }').types);
    expect(merged['scalars']).toEqual([]);
    expect(merged['enums']).toEqual([{ name: 'Money', values: [{ value: 'EUR' }] }]);
  });

  it('rejects a changed definition of a hidden type', () => {
    expect(() => mergedTypes(TYPES, SHOWN, parseActionDocument('type Other { a: Int }').types)).toThrow(
      'Another action has a different type Other',
    );
    expect(mergedTypes(TYPES, new Set(), parseActionDocument('type Other { id: ID }').types)).toEqual(TYPES);
  });

  it('lists types that no action uses', () => {
    const action = { name: 'checkout', definition: { arguments: [{ name: 'cart', type: 'Cart!' }], output_type: '[Receipt!]' } };
    expect(unusedTypes(TYPES, [action])).toEqual(['Other']);
    expect(withoutTypes(TYPES, ['Other'])['objects']).toHaveLength(1);
  });
});

it.each([
  ['in action "a"; the type: "Nothing" is not an object or scalar type defined in custom types', ['Nothing']],
  ['validation for the given custom types failed because the type "Nothing" for field "b" in object type "T" does not exist', ['Nothing']],
  ['duplicate type names: "T"', ['T', 'T']],
  ['action with name "other" already exists', []],
])('finds the quoted type of an error: %s', (message, names) => {
  const text = 'type Mutation { a: T } type T { b: Nothing }';
  expect(placesOfError(message, text).map(({ from, to }) => text.slice(from, to))).toEqual(names);
});

it('keeps keys of a definition that SDL does not have', () => {
  const definition = {
    handler: 'h',
    kind: 'asynchronous',
    retry_conf: { num_retries: 1 },
    timeout: 5,
    signature: { secret_from_env: 'S' },
  };
  expect(withSignature(definition, CHECKOUT)).toEqual({
    ...definition,
    type: 'mutation',
    arguments: CHECKOUT.arguments,
    output_type: 'Receipt!',
  });
  expect(withSignature(definition, { ...CHECKOUT, type: 'query' })).toEqual({
    handler: 'h',
    timeout: 5,
    signature: { secret_from_env: 'S' },
    type: 'query',
    arguments: CHECKOUT.arguments,
    output_type: 'Receipt!',
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ActionSignature,
  DocumentError,
  mergedTypes,
  parseActionDocument,
  placesOfRefusal,
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
  it('are printed with the types that they use, and read as they were', () => {
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
    ['type Mutation { a(b: Int = 1): Int }', 'an argument has no default value'],
    ['type Mutation { a: [Int }', 'line 1: ] is expected here'],
    ['type T { a(b: Int): Int }', 'fields of these types take no arguments'],
    ['union A = B | C', 'type, input, enum or scalar is expected in place of union'],
    ['scalar A\nscalar A', 'line 2: there are two types A'],
    ['type T {}', 'there is no field here'],
    ['type T { a: Int ? }', '? is not expected here'],
    ['type T { a: Int', '} is expected here'],
    ['enum E { A @skip }', 'no other directive'],
  ])('say what is wrong with %s', (text, message) => {
    expect(() => parseActionDocument(text)).toThrow(DocumentError);
    expect(() => parseActionDocument(text)).toThrow(message);
  });
});

describe('types after a part of them was edited', () => {
  it('keep what was not shown, and the relationships of what was', () => {
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

  it('let a type become one of another kind', () => {
    const merged = mergedTypes(TYPES, SHOWN, parseActionDocument('enum Money { EUR }').types);
    expect(merged['scalars']).toEqual([]);
    expect(merged['enums']).toEqual([{ name: 'Money', values: [{ value: 'EUR' }] }]);
  });

  it('are no way to change types of other actions by accident', () => {
    expect(() => mergedTypes(TYPES, SHOWN, parseActionDocument('type Other { a: Int }').types)).toThrow('There is another type Other');
    expect(mergedTypes(TYPES, new Set(), parseActionDocument('type Other { id: ID }').types)).toEqual(TYPES);
  });

  it('are told to be used by no action', () => {
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
])('finds the place of a refusal: %s', (message, names) => {
  const text = 'type Mutation { a: T } type T { b: Nothing }';
  expect(placesOfRefusal(message, text).map(({ from, to }) => text.slice(from, to))).toEqual(names);
});

it('keeps of a definition what its signature does not say', () => {
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

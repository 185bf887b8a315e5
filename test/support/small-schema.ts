/** Handmade root types for tests of the schema engine: authors and articles without tables. */
import type { SelectRoot } from '../../src/ir/select.ts';
import type { Value } from '../../src/ir/value.ts';
import { SvcError } from '../../src/errors/svc-error.ts';
import { isJsonNumber, type Json } from '../../src/util/json.ts';
import { BOOLEAN_SCALAR, INT_SCALAR, NON_NEGATIVE_INT, STRING_SCALAR } from '../../src/graphql-engine/input/built-in-scalars.ts';
import { unexpectedNull } from '../../src/graphql-engine/input/input-errors.ts';
import {
  type CollectedField,
  type EnumSchemaType,
  type InputValue,
  type InputField,
  type InputObjectType,
  type InputTypeRef,
  lazy,
  listTypeRef,
  type NamedType,
  namedTypeOf,
  nonNull,
  type ObjectType,
  type OutputField,
  type RootMeaning,
  type RootTypes,
  type ScalarSchemaType,
  type TypeRef,
  type UnionType,
} from '../../src/graphql-engine/types.ts';

/** The translation of the fixture's roots in place of IR: the fields and values that the walk passed on. */
export interface Seen {
  readonly key: string;
  readonly name: string;
  readonly path: CollectedField['path'];
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: readonly Seen[] | null;
}

const ref = <T extends NamedType>(type: () => T): TypeRef<T> => {
  const made = lazy(type);
  return {
    kind: 'named',
    get name() {
      return made().name;
    },
    type: made,
    nonNull: false,
  };
};

/** A column scalar that accepts numbers and strings, as columns do. */
const COLUMN_INT: ScalarSchemaType = {
  kind: 'scalar',
  name: 'Int',
  description: null,
  check(json, at) {
    if (!isJsonNumber(json) && typeof json !== 'string')
      throw new SvcError('parse-failed', 'Integer expected for input type: integer', { path: at });
    return json;
  },
};

const UUID: ScalarSchemaType = { kind: 'scalar', name: 'uuid', description: null, check: (json) => json };
const JSONB: ScalarSchemaType = { kind: 'scalar', name: 'jsonb', description: null, check: (json) => json, enumLiterals: true };
const FLOAT: ScalarSchemaType = { kind: 'scalar', name: 'Float', description: null, check: (json) => json };

const ORDER_BY: EnumSchemaType = enumType('order_by', ['asc', 'desc']);
export const COLORS: EnumSchemaType = enumType('colors_enum', ['red', 'blue', 'green']);

function enumType(name: string, names: readonly string[]): EnumSchemaType {
  const values = new Map(names.map((value) => [value, { name: value, description: `the ${value} one`, value: `${value}!` }]));
  return { kind: 'enum', name, description: 'an enum', values: () => values };
}

function input(name: string, type: InputTypeRef, fallback?: Json): InputField {
  return { name, description: null, type, ...(fallback === undefined ? {} : { default: fallback }) };
}

function inputObject(name: string, fields: () => readonly InputField[]): InputObjectType {
  return { kind: 'input-object', name, description: `the "${name}"`, fields: lazy(() => new Map(fields().map((f) => [f.name, f]))) };
}

function comparison(name: string, scalar: ScalarSchemaType | EnumSchemaType): InputObjectType {
  const type = ref(() => scalar);
  return inputObject(name, () => [
    input('_eq', type),
    input('_in', listTypeRef(nonNull(type))),
    input(
      '_is_null',
      ref(() => BOOLEAN_SCALAR),
    ),
    input('_array', listTypeRef(nonNull(type))),
    input('_array_in', listTypeRef(listTypeRef(nonNull(type), true))),
  ]);
}

const INT_COMPARISON = comparison('Int_comparison_exp', COLUMN_INT);
const JSONB_COMPARISON = comparison('jsonb_comparison_exp', JSONB);
const UUID_COMPARISON = comparison('uuid_comparison_exp', UUID);
const COLOR_COMPARISON = comparison('colors_enum_comparison_exp', COLORS);

const AUTHOR_BOOL_EXP: InputObjectType = {
  ...inputObject('author_bool_exp', () => [
    input('_and', listTypeRef(nonNull(ref(() => AUTHOR_BOOL_EXP)))),
    input(
      '_not',
      ref(() => AUTHOR_BOOL_EXP),
    ),
    input(
      'id',
      ref(() => INT_COMPARISON),
    ),
    input(
      'data',
      ref(() => JSONB_COMPARISON),
    ),
    input(
      'key',
      ref(() => UUID_COMPARISON),
    ),
    input(
      'color',
      ref(() => COLOR_COMPARISON),
    ),
  ]),
  isCondition: true,
};

const AUTHOR_ORDER_BY: InputObjectType = inputObject('author_order_by', () => [
  input(
    'id',
    ref(() => ORDER_BY),
  ),
  input(
    'name',
    ref(() => ORDER_BY),
  ),
]);
const NEAR: InputObjectType = inputObject('near_input', () => [
  input('distance', nonNull(ref(() => FLOAT))),
  input('unit', nonNull(ref(() => STRING_SCALAR)), 'm'),
  input(
    'color',
    ref(() => COLORS),
  ),
]);

function field(
  name: string,
  type: OutputField['type'],
  args: readonly InputField[] = [],
  meaning: OutputField['meaning'] = { kind: 'inner' },
): OutputField {
  return { name, description: args.length > 0 ? `fetch "${name}"` : null, type, args: new Map(args.map((a) => [a.name, a])), meaning };
}

function object(name: string, fields: () => readonly OutputField[]): ObjectType {
  return { kind: 'object', name, description: `columns of """${name}"""`, fields: lazy(() => new Map(fields().map((f) => [f.name, f]))) };
}

export const AUTHOR: ObjectType = object('author', () => [
  field('id', nonNull(ref(() => COLUMN_INT))),
  field(
    'name',
    ref(() => STRING_SCALAR),
  ),
  field(
    'data',
    ref(() => JSONB),
    [
      input(
        'path',
        ref(() => STRING_SCALAR),
      ),
    ],
  ),
  field('articles', listTypeRef(nonNull(ref(() => ARTICLE)), true), SELECT_ARGS),
]);

export const ARTICLE: ObjectType = object('article', () => [
  field('id', nonNull(ref(() => COLUMN_INT))),
  field(
    'title',
    ref(() => STRING_SCALAR),
  ),
  field(
    'author',
    ref(() => AUTHOR),
  ),
]);

const ANY: UnionType = { kind: 'union', name: 'any', description: null, members: () => [AUTHOR, ARTICLE] };

const SELECT_ARGS: readonly InputField[] = [
  input(
    'limit',
    ref(() => NON_NEGATIVE_INT),
  ),
  input('order_by', listTypeRef(nonNull(ref(() => AUTHOR_ORDER_BY)))),
  input(
    'where',
    ref(() => AUTHOR_BOOL_EXP),
  ),
];

const select: RootMeaning = {
  kind: 'select',
  source: 'default',
  // The walk passes the result through unchanged, so that tests can inspect it.
  translate: (collected, alias) => ({ alias, query: seen(collected) }) as unknown as SelectRoot,
};

function seen(collected: CollectedField): Seen {
  const type = collected.field === null ? null : namedTypeOf(collected.field.type);
  const members = type === null ? [] : type.kind === 'object' ? [type] : type.kind === 'union' ? type.members() : [];
  return {
    key: collected.responseKey,
    name: collected.name,
    path: collected.path,
    args: Object.fromEntries([...collected.args].map(([name, given]) => [name, readInput(given)])),
    fields: members.length === 0 ? null : members.flatMap((member) => collected.select(member).map(seen)),
  };
}

/** Reads an input as the builders do: resolves the structure, keeps scalars as references, fixes `limit`. */
export function readInput(given: InputValue): unknown {
  if (given.type.kind === 'list') {
    const item = namedTypeOf(given.type);
    if (given.path.key === '_array') return given.value();
    if (item.kind === 'scalar' || item.kind === 'enum') return given.isNull() ? fail(given) : given.listValue();
    return given.isNull() ? null : given.items().map(readInput);
  }
  const type = given.type.type();
  if (type.kind === 'enum' && given.path.key !== '_eq') return given.isNull() ? null : given.enumValue().value;
  if (type.kind === 'input-object') {
    if (given.path.key === 'where' && given.isNull()) return null;
    return Object.fromEntries(given.entries().map((entry) => [entry.field.name, readInput(entry.input)]));
  }
  if (given.path.key === 'limit' || given.path.key === '_is_null') return given.isNull() ? null : given.json();
  if (given.path.key === '_eq' && given.isNull()) throw unexpectedNull(given.type, given.path);
  return given.value();
}

function fail(given: InputValue): never {
  throw unexpectedNull(given.type, given.path);
}

const NAMESPACE: ObjectType = object('app_query', () => [
  field('author', nonNull(listTypeRef(nonNull(ref(() => AUTHOR)))), SELECT_ARGS, select),
]);

const QUERY: ObjectType = object('query_root', () => [
  field('author', listTypeRef(nonNull(ref(() => AUTHOR)), true), SELECT_ARGS, select),
  field(
    'author_by_pk',
    ref(() => AUTHOR),
    [input('id', nonNull(ref(() => COLUMN_INT)))],
    select,
  ),
  field(
    'near',
    ref(() => AUTHOR),
    [
      input('args', nonNull(ref(() => NEAR))),
      input('first', nonNull(ref(() => INT_SCALAR)), 1),
      input(
        'loose',
        ref(() => FLOAT),
      ),
    ],
    select,
  ),
  field('app', nonNull(ref(() => NAMESPACE)), [], { kind: 'namespace', type: NAMESPACE } satisfies RootMeaning),
  field('notice', nonNull(ref(() => STRING_SCALAR)), [], { kind: 'constant', json: 'nothing "here"' } satisfies RootMeaning),
  field('any', listTypeRef(ref(() => ANY)), [], select),
]);

const MUTATION: ObjectType = object('mutation_root', () => [
  field(
    'delete_author',
    ref(() => AUTHOR),
    [input('where', nonNull(ref(() => AUTHOR_BOOL_EXP)))],
    select,
  ),
]);
const SUBSCRIPTION: ObjectType = object('subscription_root', () => QUERY_FIELDS_OF_SUBSCRIPTION());
const QUERY_FIELDS_OF_SUBSCRIPTION = (): readonly OutputField[] =>
  ['author', 'author_by_pk'].map((name) => QUERY.fields().get(name) as OutputField);

export const SMALL_ROOTS: RootTypes = { query: QUERY, mutation: MUTATION, subscription: SUBSCRIPTION };
export const QUERY_ONLY: RootTypes = { query: QUERY, mutation: null, subscription: null };

/** A value without its functions and paths, for comparison. */
export function plainValue(value: Value): unknown {
  if (value.kind === 'variable') return { kind: 'variable', name: value.name, path: value.path };
  if (value.kind === 'list') return { kind: 'list', items: value.items.map(plainValue) };
  return value;
}

/** A small database kind and catalogs for unit tests of this room and the rooms above it. */
import { STANDARD_LEXIS } from '../../src/model/sql-lexis.ts';
import type { Backend } from '../../src/backend/backend.ts';
import type { Comparison, ScalarType } from '../../src/backend/type-system.ts';
import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogFunction,
  type CatalogTable,
  type CatalogType,
  nameKey,
  type QualifiedName,
} from '../../src/catalog/catalog.ts';
import { anyJson } from '../../src/metadata/codec.ts';
import { qualifiedName } from '../../src/metadata/table-name.ts';
import { SvcError } from '../../src/errors/svc-error.ts';

export function type(name: string, array = false): CatalogType {
  return { schema: 'pg_catalog', name, kind: 'base', array };
}

const textOperators: readonly Comparison[] = [{ name: '_like', description: null, argument: { kind: 'same' } }];
const jsonbOperators: readonly Comparison[] = [
  { name: '_contains', description: null, argument: { kind: 'same' } },
  { name: '_has_keys_any', description: null, argument: { kind: 'type', type: type('text'), list: true } },
  {
    name: '_cast',
    description: null,
    argument: { kind: 'cast', name: 'jsonb_cast_exp', description: null, targets: [{ key: 'String', type: type('text') }] },
  },
];
const geometryOperators: readonly Comparison[] = [
  {
    name: '_st_d_within',
    description: null,
    argument: {
      kind: 'input',
      name: 'st_d_within_input',
      description: null,
      fields: [
        { name: 'distance', type: type('float8'), required: true },
        { name: 'from', type: type('geometry'), required: true },
        { name: 'use_spheroid', type: type('bool'), required: false, default: true },
      ],
    },
  },
];

function scalar({ name }: CatalogType): ScalarType {
  const operators: Readonly<Record<string, readonly Comparison[]>> = {
    text: textOperators,
    jsonb: jsonbOperators,
    geometry: geometryOperators,
  };
  return {
    graphql: name === 'int4' ? 'Int' : name === 'text' ? 'String' : name,
    graphqlArray: `_${name}`,
    comparisons: operators[name] ?? [],
    numeric: name === 'int4',
    comparable: true,
    arraysComparable: true,
    ordered: true,
    json: name === 'json' || name === 'jsonb',
    jsonOperators: name === 'jsonb',
    hasEquality: name !== 'json',
    check(json, at) {
      if (name === 'int4' && typeof json !== 'number' && typeof json !== 'string') {
        throw new SvcError('parse-failed', 'Integer expected for input type: integer', { path: at });
      }
      return json;
    },
  };
}

export const fakeBackend: Backend = {
  kind: 'fake',
  aliases: [],
  console: {
    title: '',
    editor: 'sql',
    lexis: STANDARD_LEXIS,
    schemaKey: 'schema',
    examples: [],
    secret: { path: [], label: '', hint: '', placeholder: '', variable: '', json: false },
    fields: [],
  },
  product: 'fake',
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  isMadeUpConstraint: (name) => /_(?:pkey|key)\d*$/.test(name),
  defaultSchema: 'public',
  configuration: anyJson,
  exampleConfiguration: {},
  tableName: qualifiedName('public'),
  functionName: qualifiedName('public'),
  capabilities: {
    mutations: true,
    functions: true,
    enumTables: true,
    namingConventions: true,
    computedFields: true,
    distinctOn: true,
    onConflict: true,
    conflictsTogether: true,
    streaming: true,
    eventTriggers: true,
  },
  sqlText: { mayChangeCatalog: () => false, transactionControl: () => undefined },
  types: {
    scalar,
    named: () => null,
    print: ({ name, array }) => (name === 'int4' ? 'integer' : name) + (array ? '[]' : ''),
    comparisonInfix: null,
    documented: [],
    arrayComparisons: [{ name: '_contains', description: null, argument: { kind: 'same' } }],
    basic: { text: type('text'), integer: type('int4') },
    aggregates: [
      { name: 'sum', takes: 'numeric', sameType: true },
      { name: 'max', takes: 'comparable', sameType: true },
    ],
    aggregatePredicates: [],
  },
  compiler: () => {
    throw new Error('the fake backend compiles nothing');
  },
  connect: () => Promise.reject(new Error('the fake backend connects to nothing')),
};

export function named(name: string): QualifiedName {
  const [first = '', second] = name.split('.');
  return second === undefined ? { schema: 'public', name: first } : { schema: first, name: second };
}

/** `'id int4!'`: name and type, with `[]` for an array and `!` for not null. */
export function column(text: string, position = 1): CatalogColumn {
  const [name = '', written = 'text'] = text.split(' ');
  const base = written.replace('!', '').replace('[]', '');
  return {
    name,
    type: type(base, written.includes('[]')),
    nullable: !written.endsWith('!'),
    hasDefault: false,
    generated: false,
    identity: false,
    comment: null,
    position,
  };
}

export interface TableSketch {
  readonly columns: readonly (string | CatalogColumn)[];
  readonly key?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  /** `author_id -> author.id`, with several columns separated by commas. */
  readonly references?: readonly string[];
  readonly kind?: CatalogTable['kind'];
  readonly writable?: boolean;
}

let nextId = 1;

export function table(name: string, sketch: TableSketch): CatalogTable {
  const own = named(name);
  const writable = sketch.writable ?? true;
  return {
    id: nextId++,
    name: own,
    kind: sketch.kind ?? 'table',
    comment: null,
    columns: sketch.columns.map((each, i) => (typeof each === 'string' ? column(each, i + 1) : each)),
    primaryKey: sketch.key === undefined ? null : { name: `${own.name}_pkey`, columns: sketch.key },
    uniqueConstraints: (sketch.unique ?? []).map((columns) => ({ name: `${own.name}_${columns.join('_')}_key`, columns })),
    otherConstraints: [],
    foreignKeys: (sketch.references ?? []).map((text, i) => foreignKey(`${own.name}_fkey${i}`, text)),
    insertable: writable,
    updatable: writable,
    deletable: writable,
  };
}

function foreignKey(name: string, text: string): CatalogForeignKey {
  const [from = '', to = ''] = text.split(' -> ');
  const dot = to.lastIndexOf('.');
  return { name, columns: from.split(','), target: named(to.slice(0, dot)), targetColumns: to.slice(dot + 1).split(',') };
}

export function sqlFunction(name: string, fields: Partial<CatalogFunction>): CatalogFunction {
  return {
    id: nextId++,
    name: named(name),
    comment: null,
    volatility: 'stable',
    variadic: false,
    arguments: [],
    returns: type('text'),
    returnsTable: null,
    returnsSet: false,
    aggregate: false,
    ...fields,
  };
}

/** The row type of a table. */
export function rowType(name: string): CatalogType {
  return { ...named(name), kind: 'composite', array: false };
}

export function catalog(tables: readonly CatalogTable[], functions: readonly CatalogFunction[] = []): Catalog {
  const byName = new Map<string, CatalogFunction[]>();
  for (const each of functions) byName.set(nameKey(each.name), [...(byName.get(nameKey(each.name)) ?? []), each]);
  return { tables: new Map(tables.map((each) => [nameKey(each.name), each])), functions: byName, version: 150000 };
}

import { describe, expect, it } from 'vitest';
import { fakeBackend, type as fakeType } from '../../../test/support/fake-backend.ts';
import type { Backend } from '../../backend/backend.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { postgresql } from '../../databases/postgresql/index.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import { inputDefinition, inputFieldDefinition, sharedTypes } from '../../schema-cache/stages/shared-types.ts';
import type { CoresStage } from '../../schema-cache/stages/source.ts';
import { printJson } from '../../util/json.ts';
import { type InputObjectType, printType } from '../../graphql-engine/types.ts';
import { comparisonType } from './comparison.ts';
import { SharedTypes } from './shared-types.ts';

function stage(
  name: string,
  backend: Backend,
  columns: readonly CatalogType[],
  namingConvention: NamingConvention = 'svc-default',
): CoresStage {
  const catalog = { columns: columns.map((type) => ({ type })) };
  return {
    context: { name, backend, namingConvention },
    cores: new Map([['t', { core: { inGraphql: true, catalog } }]]),
    metadata: { functions: new Map(), tables: new Map() },
    open: { catalog: { functions: new Map() } },
  } as unknown as CoresStage;
}

function definitionOf(type: InputObjectType): string {
  return inputDefinition(
    [...type.fields().values()].map((field) =>
      inputFieldDefinition(field.name, printType(field.type), field.default === undefined ? undefined : printJson(field.default)),
    ),
  );
}

const inSchema = (schema: string, names: readonly string[]): readonly CatalogType[] =>
  names.map((name) => ({ schema, name, kind: 'base', array: false }));
const TYPES = [
  ...inSchema('pg_catalog', ['int4', 'int8', 'text', 'bpchar', 'bool', 'uuid', 'json', 'jsonb', 'numeric', 'timestamptz', 'oid']),
  ...inSchema('public', ['citext', 'geometry', 'geography', 'raster', 'ltree', 'something']),
].flatMap((type) => [type, { ...type, array: true }]);

describe('types of columns', () => {
  it.each(['svc-default', 'graphql-default'] as const)('are known by what role schemas make of them: %s', (convention) => {
    const { definitions } = sharedTypes([stage('s', postgresql as Backend, TYPES, convention)]);
    const shared = new SharedTypes(postgresql.types, convention, new Map());
    const made = new Map<string, InputObjectType>();
    const add = (type: InputObjectType): void => {
      if (made.has(type.name)) return;
      made.set(type.name, type);
      for (const field of type.fields().values()) {
        const inner = field.type.kind === 'named' ? field.type.type() : null;
        if (inner?.kind === 'input-object') add(inner);
      }
    };
    for (const type of TYPES) add(comparisonType(shared, type).type);
    const inputs = [...definitions].filter(([, definition]) => definition !== 'scalar');
    expect(Object.fromEntries(inputs)).toEqual(Object.fromEntries([...made].map(([name, type]) => [name, definitionOf(type)])));
    const scalars = new Set(
      TYPES.map((type) => shared.scalar(type)?.name).filter((name) => !['Int', 'String', 'Boolean'].includes(name ?? '')),
    );
    for (const name of scalars) expect(definitions.get(name ?? '')).toBe('scalar');
  });

  const int = fakeType('int4');
  const other = (comparisonInfix: string | null): Backend => ({
    ...fakeBackend,
    kind: 'other',
    types: {
      ...fakeBackend.types,
      comparisonInfix,
      scalar: (type) => ({
        ...fakeBackend.types.scalar(type),
        comparisons: [{ name: '_near', description: null, argument: { kind: 'same' } }],
      }),
    },
  });

  it('are distinguished by the names that another kind uses for its own types', () => {
    const { definitions, conflicts } = sharedTypes([stage('a', fakeBackend, [int]), stage('b', other('other'), [int])]);
    expect([...definitions.keys()]).toEqual(['Int_comparison_exp', 'Int_other_comparison_exp']);
    expect([...conflicts]).toEqual([]);
  });

  it('exclude a source of another kind whose types of the same name differ', () => {
    const { conflicts } = sharedTypes([stage('a', fakeBackend, [int]), stage('b', other(null), [int]), stage('c', other(null), [])]);
    expect([...conflicts]).toEqual([
      [
        'b',
        "Encountered conflicting definitions of the GraphQL type 'Int_comparison_exp' in [source a, source b]. Types must not be defined more than once across all sources.",
      ],
    ]);
    const sameKind = { ...other(null), kind: fakeBackend.kind };
    expect(sharedTypes([stage('a', fakeBackend, [int]), stage('b', sameKind, [int])]).conflicts.size).toBe(0);
  });
});

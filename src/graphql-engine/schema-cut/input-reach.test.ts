import { buildSchema, introspectionFromSchema, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { clientSchema, sdlOf } from '../../project/role-schema/print-schema.ts';
import { cutSchema } from './cut-schema.ts';
import { typesOfIntrospection } from './schema-types.ts';

const FILTER = '_and: [a_bool_exp!] _not: a_bool_exp';
const SCHEMA = buildSchema(`
  scalar jsonb
  type Query { a(where: a_bool_exp): Int }
  type Mutation { insert_a(rows: [a_insert!]!): Int  insert_b(rows: [b_insert!]!): Int }
  input a_bool_exp { ${FILTER} id: int_exp meta: jsonb_exp bs: b_bool_exp bs_aggregate: b_agg }
  input b_bool_exp { ${FILTER.replaceAll('a_', 'b_')} id: int_exp cs: c_bool_exp cs_aggregate: c_agg }
  input c_bool_exp { ${FILTER.replaceAll('a_', 'c_')} id: int_exp }
  input b_agg { count: b_count }
  input b_count { filter: b_bool_exp predicate: int_exp! distinct: Boolean }
  input c_agg { count: c_count }
  input c_count { filter: c_bool_exp predicate: int_exp! distinct: Boolean }
  input int_exp { _eq: Int }
  input jsonb_exp { _contains: jsonb _cast: jsonb_cast }
  input jsonb_cast { String: int_exp }
  input a_insert { id: Int b: b_rel }
  input b_insert { id: Int c: c_rel }
  input c_insert { id: Int d: d_rel }
  input d_insert { id: Int }
  input b_rel { data: b_insert! }
  input c_rel { data: c_insert! }
  input d_rel { data: d_insert! }
  schema { query: Query mutation: Mutation }
`);
const TYPES = typesOfIntrospection(introspectionFromSchema(SCHEMA));
const WHERE = 'query A($where: a_bool_exp) { a(where: $where) }';
const INSERT = 'mutation B($rows: [a_insert!]!) { insert_a(rows: $rows) }';

/** Fields of the input objects of the cut schema. */
async function inputs(document: string, depth: number): Promise<Readonly<Record<string, readonly string[]>>> {
  const documents = [parse(document)];
  const { cut } = await cutSchema(TYPES, documents, depth);
  // The part of a part is the same.
  const again = await cutSchema(typesOfIntrospection(cut), documents, depth);
  expect(sdlOf(clientSchema(again.cut))).toBe(sdlOf(clientSchema(cut)));
  return Object.fromEntries(
    cut.__schema.types.flatMap((type) =>
      type.kind === 'INPUT_OBJECT' ? [[type.name, type.inputFields.map(({ name }) => name).sort()] as const] : [],
    ),
  );
}

describe('input objects of a variable', () => {
  it('have all columns at depth 0, JSON columns with casts too, and no relationship', async () => {
    expect(await inputs(WHERE, 0)).toEqual({
      a_bool_exp: ['_and', '_not', 'id', 'meta'],
      int_exp: ['_eq'],
      jsonb_exp: ['_cast', '_contains'],
      jsonb_cast: ['String'],
    });
  });

  it('have relationships of one level at depth 1, without aggregates of the next level', async () => {
    const found = await inputs(WHERE, 1);
    expect(found['b_bool_exp']).toEqual(['_and', '_not', 'id']);
    expect(found['b_count']).toEqual(['distinct', 'filter', 'predicate']);
    expect(Object.keys(found).filter((name) => name.startsWith('c_'))).toEqual([]);
  });

  it('have nested rows of as many levels as the depth, although a nested insert requires its data', async () => {
    const names = async (depth: number) => Object.keys(await inputs(INSERT, depth)).sort();
    expect(await names(0)).toEqual(['a_insert']);
    expect(await names(1)).toEqual(['a_insert', 'b_insert', 'b_rel']);
    expect(await names(2)).toEqual(['a_insert', 'b_insert', 'b_rel', 'c_insert', 'c_rel']);
  });

  it('have nested rows beyond the depth if their data is the type of another variable', async () => {
    const both = `${INSERT} mutation C($rows: [b_insert!]!) { insert_b(rows: $rows) }`;
    expect(await inputs(both, 0)).toEqual({ a_insert: ['b', 'id'], b_insert: ['id'], b_rel: ['data'] });
  });
});

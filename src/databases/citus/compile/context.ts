import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context, Elsewhere } from '../../postgresql/compile/context.ts';

/** Stands behind the number in each alias of ours: no name and no text of the database can hold it. */
export const COPY = '\u0000';

/** One row of the coordinator's own catalog: a select that reads it is run there, where functions and the settings of the transaction are. */
export const HERE = sql`"pg_catalog"."pg_namespace" as ":here"`;
export const IS_HERE = sql`":here"."nspname" = 'pg_catalog'`;

/** A statement while it is put together: what expressions share, and its common table expressions in order. */
export interface Draft {
  readonly context: Context;
  readonly relations: { readonly name: Sql; readonly select: () => Sql; readonly writes: boolean }[];
}

/** Names a relation. @param writes whether it is of the rows that a statement writes @returns the name */
export function addRelation({ context, relations }: Draft, select: () => Sql, writes = false): Sql {
  const name = context.alias();
  relations.push({ name, select, writes });
  return name;
}

/** The common table expressions as a list. Each is computed once, by itself. */
export function relationList({ relations }: Draft): Sql {
  return join(
    relations.map(({ name, select, writes }) => sql`${name} as ${writes ? EMPTY : sql`materialized `}(${select()})`),
    sql`, `,
  );
}

/** The whole statement. @param select is made before the relations are written: it may still read from them */
export function withRelations(draft: Draft, select: Sql): Sql {
  return draft.relations.length === 0 ? select : sql`with ${relationList(draft)} ${select}`;
}

/** What is compiled meanwhile asks about other tables in this way. */
export function asking<T>(context: Context, elsewhere: Elsewhere, make: () => T): T {
  const before = context.elsewhere;
  context.elsewhere = elsewhere;
  const made = make();
  context.elsewhere = before;
  return made;
}

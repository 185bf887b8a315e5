import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from '../../postgresql/compile/context.ts';

/** Character after the number in each alias, which no name and no text of the database can contain. */
export const COPY = '\u0000';

/**
 * One row of the coordinator's catalog: a select that reads it runs on the coordinator, which has the functions and the transaction's
 * settings.
 */
export const HERE = sql`"pg_catalog"."pg_namespace" as ":here"`;
export const IS_HERE = sql`":here"."nspname" = 'pg_catalog'`;

/** A statement while it is compiled: the context of its expressions, and its common table expressions in order. */
export interface StatementDraft {
  readonly context: Context;
  readonly relations: { readonly name: Sql; readonly select: () => Sql; readonly writes: boolean }[];
}

/** Adds a relation. @param writes whether its statement writes @returns its name */
export function addRelation({ context, relations }: StatementDraft, select: () => Sql, writes = false): Sql {
  const name = context.alias();
  relations.push({ name, select, writes });
  return name;
}

/** Compiles the list of common table expressions, each of which is computed once. */
export function relationList({ relations }: StatementDraft): Sql {
  return join(
    relations.map(({ name, select, writes }) => sql`${name} as ${writes ? EMPTY : sql`materialized `}(${select()})`),
    sql`, `,
  );
}

/** Compiles the whole statement. @param select compiled before the relations, which it may still add columns to */
export function withRelations(draft: StatementDraft, select: Sql): Sql {
  return draft.relations.length === 0 ? select : sql`with ${relationList(draft)} ${select}`;
}

/** The compiler of MariaDB: IR to statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions, Statement } from '../../../backend/backend.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import { createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { joinSql } from './join.ts';
import { compileLiveQuery } from './live-query.ts';
import { compileMutation } from './mutation/mutation.ts';
import { querySql } from './query.ts';

export function compiler(options: CompilerOptions): Compiler {
  return {
    select: (roots) => statement(selectSql(options, roots), roots.length),
    mutation: (roots) => compileMutation(options, roots),
    liveQuery: (roots) => compileLiveQuery(rootsSql(options, roots)),
    join: (target) => statement(joinSql(createContext(options), target), 1),
  };
}

function statement(root: Sql, columns: number): Statement {
  const { text, parameters } = print(root, dialect);
  return { text, parameters, repeatable: true, columns };
}

/** One row with a column for each root. */
function selectSql(options: CompilerOptions, roots: readonly SelectRoot[]): Sql {
  const columns = rootsSql(options, roots).map((root, i) => sql`${root} as ${identifier(String(i))}`);
  return sql`select ${join(columns, sql`, `)}`;
}

function rootsSql(options: CompilerOptions, roots: readonly SelectRoot[]): readonly Sql[] {
  const context = createContext(options);
  return roots.map((root) => sql`coalesce(${querySql(context, root.query, null, null)}, 'null')`);
}

/** The compiler of PostgreSQL: IR to statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions, LiveQuery } from '../../../backend/backend.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import { aggregateSql } from './aggregate.ts';
import { type Context, createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { inlined } from './inline.ts';
import { joinSql } from './join.ts';
import { compileLiveQuery } from './live-query.ts';
import { compileMutation } from './mutation/mutation.ts';
import { writingOf } from './mutation/write.ts';
import { rowsSql } from './rows.ts';
import { streamSql } from './stream.ts';
import type { Statement } from '../../../backend/connection.ts';

export function compiler(options: CompilerOptions): Compiler {
  return {
    select: (roots) => compileSelect(options, roots),
    mutation: (roots, once) =>
      compileMutation({ writing: writingOf(() => selectContext(options)), select: (root) => compileSelect(options, [root]) }, roots, once),
    join: (target) => compileJoin(options, target),
    liveQuery: (roots) => compileLive(options, roots),
    inlined: (statement, values) => inlined(statement.text, values),
  };
}

/** A context whose queries are compiled by this room; what statements of other shapes start from. */
function selectContext(options: CompilerOptions): Context {
  return createContext(options, (context, query, parent, on) =>
    query.kind === 'rows' ? rowsSql(context, query, parent, on) : aggregateSql(context, query, parent, on),
  );
}

/**
 * A statement may be repeated unless it calls a function that may be volatile. Views count as tables:
 * what a view's functions did in a statement that was cancelled has been undone with it.
 */
function compileSelect(options: CompilerOptions, roots: readonly SelectRoot[]): Statement {
  const context = selectContext(options);
  const { text, parameters } = print(rootsSql(context, roots), dialect);
  return { text, parameters, repeatable: !context.volatile, columns: roots.length };
}

function compileJoin(options: CompilerOptions, target: JoinToSource): Statement {
  const context = selectContext(options);
  const { text, parameters } = print(joinSql(context, target), dialect);
  return { text, parameters, repeatable: !context.volatile, columns: 1 };
}

function compileLive(options: CompilerOptions, roots: readonly SelectRoot[]): LiveQuery {
  const context = selectContext(options);
  const [first] = roots;
  const isStream = first?.cursor !== undefined && first.query.kind === 'rows';
  const query = isStream ? streamSql(context, first.query, first.cursor) : rootsSql(context, roots);
  return compileLiveQuery({ query, columns: roots.length, isStream, repeatable: !context.volatile, dependsOn: context.dependsOn });
}

/** One row; several roots are one column each, so that they take one round trip. */
function rootsSql(context: Context, roots: readonly SelectRoot[]): Sql {
  const [first] = roots;
  if (roots.length === 1 && first !== undefined && alwaysHasRow(first)) return context.query(first.query, null, null);
  const columns = roots.map((root, i) => {
    const query = sql`(${context.query(root.query, null, null)})`;
    return sql`${alwaysHasRow(root) ? query : sql`coalesce(${query}, 'null')`} as ${identifier(String(i))}`;
  });
  return sql`select ${join(columns, sql`, `)}`;
}

function alwaysHasRow(root: SelectRoot): boolean {
  return root.query.kind === 'aggregate' || root.query.shape === 'list';
}

/** Compiler from IR to statements of PostgreSQL. Pure. */
import type { Compiler, CompilerOptions, LiveQuery } from '../../../backend/backend.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import { streamOf } from '../../shared/live-query.ts';
import { aggregateSql } from './aggregate.ts';
import { connectionSql } from './connection.ts';
import { type Context, createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { inlined } from './inline.ts';
import { joinSql } from './join.ts';
import { compileLiveQuery } from './live-query.ts';
import { compileMutation } from './mutation/mutation.ts';
import { writeCompilerOf } from './mutation/write.ts';
import { rowsSql } from './rows.ts';
import { streamSql } from './stream.ts';
import type { Statement } from '../../../backend/connection.ts';

export function compiler(options: CompilerOptions): Compiler {
  return {
    select: (roots) => compileSelect(options, roots),
    mutation: (roots, once) =>
      compileMutation(
        { writes: writeCompilerOf(() => selectContext(options)), select: (root) => compileSelect(options, [root]) },
        roots,
        once,
      ),
    join: (target) => compileJoin(options, target),
    liveQuery: (roots) => compileLive(options, roots),
    inlined: (statement, values) => inlined(statement.text, values),
  };
}

/** Context of a statement whose related queries are lateral joins and subqueries. */
function selectContext(options: CompilerOptions): Context {
  return createContext(options, (context, query, parent, on) => {
    if (query.kind === 'connection') return connectionSql(context, query, parent, on);
    return query.kind === 'rows' ? rowsSql(context, query, parent, on) : aggregateSql(context, query, parent, on);
  });
}

/**
 * A statement may be repeated unless it calls a function that may be volatile. Views count as tables: the effects of their functions are
 * rolled back with a cancelled statement.
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
  const stream = streamOf(roots);
  const query = stream === null ? rootsSql(context, roots) : streamSql(context, stream.query, stream.cursor);
  const { volatile, dependsOn } = context;
  return compileLiveQuery({ query, columns: roots.length, isStream: stream !== null, repeatable: !volatile, dependsOn });
}

/** Compiles roots to one row with a column per root, for one round trip. */
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
  return root.query.kind !== 'rows' || root.query.shape === 'list';
}

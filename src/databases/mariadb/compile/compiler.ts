/** Compiles IR to MariaDB statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions, LiveQuery } from '../../../backend/backend.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { EMPTY, identifier, join, print, type Sql, sql } from '../../../sql/fragment.ts';
import { streamOf } from '../../shared/live-query.ts';
import { type Context, createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { joinSql } from './join.ts';
import { compileLiveQuery } from './live-query.ts';
import { compileMutation } from './mutation/mutation.ts';
import { listSql, querySql } from './query.ts';
import { streamSql } from './stream.ts';
import type { Statement } from '../../../backend/connection.ts';

export function compiler(options: CompilerOptions): Compiler {
  return {
    select: (roots) => statement(selectSql(options, roots), roots.length),
    mutation: (roots) => compileMutation(options, roots),
    liveQuery: (roots) => compileLive(options, roots),
    join: (target) => statement(joinSql(createContext(options), target), 1),
  };
}

function statement(root: Sql, columns: number): Statement {
  const { text, parameters } = print(root, dialect);
  return { text, parameters, repeatable: true, columns };
}

/** Selects one row with a column for each root. */
function selectSql(options: CompilerOptions, roots: readonly SelectRoot[]): Sql {
  const context = createContext(options);
  const [only] = roots;
  if (only !== undefined && roots.length === 1 && only.query.kind === 'rows' && only.query.shape === 'list') {
    const { array, body } = listSql(context, only.query, null, null);
    return sql`select ${array} as ${identifier('0')} from ${body}`;
  }
  const columns = rootsSql(context, roots).map((root, i) => sql`${root} as ${identifier(String(i))}`);
  return sql`select ${join(columns, sql`, `)}`;
}

function rootsSql(context: Context, roots: readonly SelectRoot[]): readonly Sql[] {
  return roots.map((root) => sql`coalesce(${querySql(context, root.query, null, null)}, 'null')`);
}

function compileLive(options: CompilerOptions, roots: readonly SelectRoot[]): LiveQuery {
  const context = createContext(options);
  const stream = streamOf(roots);
  if (stream !== null) {
    const { rows, cursor, from } = streamSql(context, stream.query, stream.cursor);
    return compileLiveQuery({ answers: [rows, cursor], from, isStream: true, isCorrelated: false });
  }
  const answers = rootsSql(context, roots);
  return compileLiveQuery({ answers, from: EMPTY, isStream: false, isCorrelated: !context.derived.some(hasParameter) });
}

function hasParameter(node: Sql): boolean {
  if (node.kind === 'parameter') return true;
  if (node.kind === 'template') return node.values.some(hasParameter);
  return node.kind === 'sequence' && node.items.some(hasParameter);
}

/** The compiler of BigQuery: IR to statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions } from '../../../backend/backend.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { print, type Sql } from '../../../sql/fragment.ts';
import type { BigQueryStatement, Layout } from '../answer.ts';
import { encoder } from '../coerce/encode.ts';
import { createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { HOLE_NAME } from './hole.ts';
import { joinSql } from './join.ts';
import { rootsSql } from './roots.ts';
import { writerOf } from './writer.ts';

export function compiler(options: CompilerOptions): Compiler {
  return {
    select(roots: readonly SelectRoot[]) {
      const { select, layout } = rootsSql(writerOf(createContext(options)), roots);
      return statementOf(select, layout, roots.length);
    },
    join(target: JoinToSource) {
      const { text, parameters } = print(joinSql(writerOf(createContext(options)), target), dialect);
      // Stands between the rows, where no statement sees it.
      const name = { operand: HOLE_NAME, key: '', encode: encoder(HOLE_NAME) };
      const layout: Layout = { kind: 'keys', holeName: parameters.length };
      const statement: BigQueryStatement = { text, parameters: [...parameters, name], repeatable: true, columns: 1, layout };
      return statement;
    },
  };
}

function statementOf(select: Sql, layout: Layout, columns: number): BigQueryStatement {
  const { text, parameters } = print(select, dialect);
  return { text, parameters, repeatable: true, columns, layout };
}

/** Compiles IR to BigQuery statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions } from '../../../backend/backend.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { print, type Sql } from '../../../sql/fragment.ts';
import type { BigQueryStatement, ResultLayout } from '../answer.ts';
import { encoder } from '../coerce/encode.ts';
import { createContext } from './context.ts';
import { dialect } from './dialect.ts';
import { PLACEHOLDER_NAME } from './placeholder.ts';
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
      // Placed between the cells; not part of the statement.
      const name = { operand: PLACEHOLDER_NAME, key: '', encode: encoder(PLACEHOLDER_NAME) };
      const layout: ResultLayout = { kind: 'keys', placeholderName: parameters.length };
      const statement: BigQueryStatement = { text, parameters: [...parameters, name], repeatable: true, columns: 1, layout };
      return statement;
    },
  };
}

function statementOf(select: Sql, layout: ResultLayout, columns: number): BigQueryStatement {
  const { text, parameters } = print(select, dialect);
  return { text, parameters, repeatable: true, columns, layout };
}

/** Compiler from IR to statements of Citus. Pure. */
import type { Compiler, CompilerOptions } from '../../../backend/backend.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { SelectRoot } from '../../../ir/select.ts';
import { print, type Sql } from '../../../sql/fragment.ts';
import { dialect } from '../../postgresql/compile/dialect.ts';
import { inlined } from '../../postgresql/compile/inline.ts';
import { type StatementDraft, withRelations } from './context.ts';
import { createStatementDraft } from './draft.ts';
import { joinSql } from './join.ts';
import { compileLive } from './live-query.ts';
import { compileMutations } from './mutation/mutation.ts';
import { rootsSql } from './roots.ts';
import type { Statement } from '../../../backend/connection.ts';

export function compiler(options: CompilerOptions): Compiler {
  const select = (roots: readonly SelectRoot[]): Statement => {
    const draft = createStatementDraft(options);
    return statementOf(draft, rootsSql(draft, roots), roots.length);
  };
  return {
    select,
    mutation: (roots, once) => compileMutations(options, select, roots, once),
    join(target: JoinToSource) {
      const draft = createStatementDraft(options);
      return statementOf(draft, joinSql(draft, target), 1);
    },
    liveQuery: (roots) => compileLive(options, roots),
    inlined: (statement, values) => inlined(statement.text, values),
  };
}

function statementOf(draft: StatementDraft, select: Sql, columns: number): Statement {
  const { text, parameters } = print(withRelations(draft, select), dialect);
  return { text, parameters, repeatable: !draft.context.volatile, columns };
}

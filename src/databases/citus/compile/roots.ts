import type { SelectRoot } from '../../../ir/select.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { rootAnswer } from '../../shared/set-plan/answer.ts';
import { addRelation, type StatementDraft } from './context.ts';
import { writerOf } from './writer.ts';

/** Compiles roots to one row with a column per root. */
export function rootsSql(draft: StatementDraft, roots: readonly SelectRoot[]): Sql {
  const writer = writerOf(draft);
  const [only] = roots;
  if (roots.length === 1 && only !== undefined) return rootAnswer(writer, only.query);
  const answers = roots.map((root) => {
    const answer = rootAnswer(writer, root.query);
    return { name: addRelation(draft, () => answer), alias: draft.context.alias() };
  });
  const columns = answers.map(({ alias }, i) => sql`${alias}."json" as ${identifier(String(i))}`);
  return sql`select ${join(columns, sql`, `)} from ${join(
    answers.map(({ name, alias }) => sql`${name} as ${alias}`),
    sql` cross join `,
  )}`;
}

/**
 * Many subscribers in one statement, each with a branch of its own: a derived table, which pages are cut in, cannot see values that
 * come in rows of another one.
 */
import type { LiveQuery } from '../../../backend/backend.ts';
import { join, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { dialect } from './dialect.ts';

/** @param roots an expression for each; every branch is a row of their values between the number of its cohort and no snapshot */
export function compileLiveQuery(roots: readonly Sql[]): LiveQuery {
  const answers = print(join(roots, sql`, `), dialect);
  const branch = (cohort: number): string => `select ${print(string(String(cohort)), dialect).text}, ${answers.text}, null`;
  const text = branch(0);
  return {
    text,
    parameters: answers.parameters,
    columns: roots.length,
    cursor: null,
    repeatable: true,
    tellsTime: false,
    dependsOn: 'what others write, of which MariaDB tells nobody',
    // What stands for a moment is none of the texts that are let through.
    isTimeless: () => true,
    batch: (cohorts) => ({ text: cohorts.map((_, i) => branch(i)).join(' union all '), values: cohorts.flat() }),
    // Values are read when they are bound; a pattern only by the statement itself.
    check: (values) => ({ text, values }),
  };
}

/**
 * Many subscribers in one statement. Their values are the rows of one JSON document, and the query runs for each of them. Derived tables,
 * which paging needs, cannot be correlated: if values are used in one, each subscriber gets a branch of a `union all`.
 */
import type { LiveQuery } from '../../../backend/backend.ts';
import { identifier, join, type Parameter, print, replaceParameters, type Sql, sql, string } from '../../../sql/fragment.ts';
import { liveQueryOf } from '../../shared/live-query.ts';
import { familyOf } from '../families.ts';
import { dialect } from './dialect.ts';
import { listType } from './operand.ts';

const COHORTS = identifier(':cohorts');

export interface ToCompile {
  /** An expression for each root; for a stream, also the text of its next cursor. */
  readonly answers: readonly Sql[];
  /** `` from …`` for the expressions, or nothing. */
  readonly from: Sql;
  readonly isStream: boolean;
  /** Set if no values are used in derived tables. */
  readonly isCorrelated: boolean;
}

export function compileLiveQuery(query: ToCompile): LiveQuery {
  const { answers, from, isStream } = query;
  const printed = print(sql`${join(answers, sql`, `)}, null${from}`, dialect);
  const { parameters } = printed;
  const branch = (cohort: number): string => `select ${print(string(String(cohort)), dialect).text}, ${printed.text}`;
  const text = branch(0);
  const whole = query.isCorrelated && parameters.length > 0 && parameters.every(hasComparableText) ? correlated(query) : null;
  return liveQueryOf(
    {
      text: whole ?? text,
      parameters,
      columns: isStream ? answers.length - 1 : answers.length,
      isStream,
      repeatable: true,
      reportsTime: false,
      dependsOn: 'changes by other clients, which MariaDB does not report',
      batch(cohorts) {
        // A single subscriber is answered like a query.
        if (whole === null || cohorts.length === 1)
          return { text: cohorts.map((_, i) => branch(i)).join(' union all '), values: cohorts.flat() };
        return { text: whole, values: [JSON.stringify(cohorts.map((values, i) => [String(i), ...values]))] };
      },
      // Values are validated when they are bound; patterns only by the statement itself.
      check: (values) => ({ text, values }),
    },
    // The encoder accepts no relative times such as `now`.
    () => true,
  );
}

/** Compiles one statement whose text does not depend on the number of subscribers. Its only parameter is the document. */
function correlated({ answers, from }: ToCompile): string {
  const columns: Sql[] = [sql`\`id\` varchar(10) path '$[0]'`];
  const perCohort = replaceParameters(sql`${join(answers, sql`, `)}, null`, ({ operand }) => {
    const name = identifier(`v${columns.length}`);
    const type = operand.list || operand.type.array ? TEXT_TYPE : listType({ ...operand.type, name: textNameOf(operand) });
    columns.push(sql`${name} ${type} path ${string(`$[${columns.length}]`)}`);
    return sql`${COHORTS}.${name}`;
  });
  const table = sql`json_table(${{ kind: 'template', texts: ['?'], values: [] }}, '$[*]' columns (${join(columns, sql`, `)})) as ${COHORTS}`;
  return print(sql`select ${COHORTS}.\`id\`, ${perCohort} from ${table}${from}`, dialect).text;
}

const TEXT_TYPE = sql`longtext character set utf8mb4 collate utf8mb4_bin`;

/** Other values are cast by the statement, as parameters are. */
function textNameOf({ type }: Parameter['operand']): string {
  return familyOf(type).kind === 'text' ? type.name : 'longtext';
}

/** Unlike a parameter, a column does not adopt the collation of the other side, so it must have the same. */
function hasComparableText({ operand: { type, list } }: Parameter): boolean {
  const name = type.collation?.name;
  return list || name === undefined || name.startsWith('utf8mb4_');
}

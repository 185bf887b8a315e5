/**
 * Many subscribers in one statement. Their values come as the rows of one JSON document, and the query runs for each of them beside the
 * others. A derived table, which pages are cut in, cannot see values in rows of another one: where one would have to, each subscriber has
 * a branch of its own.
 */
import type { LiveQuery } from '../../../backend/backend.ts';
import { identifier, join, type Parameter, print, replaceParameters, type Sql, sql, string } from '../../../sql/fragment.ts';
import { familyOf } from '../families.ts';
import { dialect } from './dialect.ts';
import { listType } from './operand.ts';

const COHORTS = identifier(':cohorts');

export interface ToCompile {
  /** An expression for each root; of a stream one more, the text of its next cursor. */
  readonly answers: readonly Sql[];
  /** Where the expressions are read from: `` from …``, or nothing. */
  readonly from: Sql;
  readonly isStream: boolean;
  /** The values do not stand in derived tables. */
  readonly isCorrelated: boolean;
}

export function compileLiveQuery(query: ToCompile): LiveQuery {
  const { answers, from, isStream } = query;
  const printed = print(sql`${join(answers, sql`, `)}, null${from}`, dialect);
  const { parameters } = printed;
  const branch = (cohort: number): string => `select ${print(string(String(cohort)), dialect).text}, ${printed.text}`;
  const text = branch(0);
  const whole = query.isCorrelated && parameters.length > 0 && parameters.every(hasComparableText) ? correlated(query) : null;
  const cursor = parameters.findIndex(({ operand }) => operand.value.kind === 'cursor');
  return {
    text: whole ?? text,
    parameters,
    columns: isStream ? answers.length - 1 : answers.length,
    cursor: isStream ? cursor : null,
    repeatable: true,
    tellsTime: false,
    dependsOn: 'what others write, of which MariaDB tells nobody',
    // What stands for a moment is none of the texts that are let through.
    isTimeless: () => true,
    batch(cohorts) {
      // A single one is answered as any query is.
      if (whole === null || cohorts.length === 1)
        return { text: cohorts.map((_, i) => branch(i)).join(' union all '), values: cohorts.flat() };
      return { text: whole, values: [JSON.stringify(cohorts.map((values, i) => [String(i), ...values]))] };
    },
    // Values are read when they are bound; a pattern only by the statement itself.
    check: (values) => ({ text, values }),
  };
}

/** One statement whose text does not depend on the number of subscribers. Its only parameter is the document. */
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

/** The statement casts texts to the types of other values itself, as it does with parameters. */
function textNameOf({ type }: Parameter['operand']): string {
  return familyOf(type).kind === 'text' ? type.name : 'longtext';
}

/** A column of a row gives way to no other one's collation, as a parameter does: it has to have the same. */
function hasComparableText({ operand: { type, list } }: Parameter): boolean {
  const name = type.collation?.name;
  return list || name === undefined || name.startsWith('utf8mb4_');
}

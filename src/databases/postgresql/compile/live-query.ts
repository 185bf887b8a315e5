/**
 * One statement for many subscribers, whose values are arrays with an element per cohort. The arrays have the types of the values, so that
 * indexes are used as for a single request.
 */
import type { LiveQuery } from '../../../backend/backend.ts';
import { identifier, integer, join, type Parameter, print, replaceParameters, type Sql, sql } from '../../../sql/fragment.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { baseType } from '../operators.ts';
import { SNAPSHOT_SQL } from '../snapshot.ts';
import { liveQueryOf } from '../../shared/live-query.ts';
import { dialect } from './dialect.ts';
import { isTimeless } from './timeless.ts';
import { typeNameSql } from './type-name.ts';

const COHORTS = identifier('_cohorts');
const ANSWER = identifier('_answer');
const CURSOR = identifier('cursor');
const TEXT = baseType('text');
const SNAPSHOT: Sql = { kind: 'template', texts: [SNAPSHOT_SQL], values: [] };
const PASSED = sql`date_part('epoch', clock_timestamp() - statement_timestamp())`;

export interface ToCompile {
  /** A select of one row with a JSON column per root, and for a stream a column with the text of its next cursor. */
  readonly query: Sql;
  readonly columns: number;
  readonly isStream: boolean;
  readonly repeatable: boolean;
  readonly dependsOn: string | null;
}

export function compileLiveQuery({ query, columns, isStream, repeatable, dependsOn }: ToCompile): LiveQuery {
  const parameters: Parameter[] = [];
  const names = new Map<string, Sql>();
  const perCohort = replaceParameters(query, (parameter) => {
    let name = names.get(parameter.key);
    if (name === undefined) {
      parameters.push(parameter);
      name = identifier(`v${parameters.length}`);
      names.set(parameter.key, name);
    }
    return sql`${COHORTS}.${name}`;
  });
  const arrays = [sql`(${marker(1)})::int4[]`, ...parameters.map((parameter, i) => sql`(${marker(i + 2)})::${arrayType(parameter)}`)];
  const roots = Array.from({ length: columns }, (_, i) => identifier(`r${i + 1}`));
  const answers = roots.map((root) => sql`coalesce(${ANSWER}.${root}, 'null')`);
  const cursor = isStream ? [sql`${ANSWER}.${CURSOR}`] : [];
  // A subquery is evaluated once.
  const snapshot = sql`case when ${COHORTS}."id" = ${integer(0)} then (select ${SNAPSHOT}) end`;
  const statement = sql`select ${join([sql`${COHORTS}."id"`, ...answers, ...cursor, PASSED, snapshot], sql`, `)} from unnest(${join(arrays, sql`, `)}) as ${COHORTS} (${join(
    [identifier('id'), ...names.values()],
    sql`, `,
  )}) left join lateral (${perCohort}) as ${ANSWER} (${join([...roots, ...(isStream ? [CURSOR] : [])], sql`, `)}) on true`;
  const { text } = print(statement, dialect);
  return liveQueryOf(
    {
      text,
      parameters,
      columns,
      isStream,
      repeatable,
      reportsTime: true,
      dependsOn,
      batch: (cohorts) => ({
        text,
        values: [
          `{${cohorts.map((_, i) => i).join(',')}}`,
          ...parameters.map((parameter, i) =>
            arrayLiteral(
              cohorts.map((values) => values[i] ?? null),
              delimiterOf(parameter),
            ),
          ),
        ],
      }),
      check: (values) => checkOfValues(parameters, values),
    },
    isTimeless,
  );
}

/** Returns a statement that fails if its type does not accept one of the values. */
export function checkOfValues(parameters: readonly Parameter[], values: readonly (string | null)[]): ReturnType<LiveQuery['check']> {
  const checked = parameters.flatMap((parameter, i) => (values[i] === null || parameter.cast === undefined ? [] : [{ parameter, i }]));
  const casts = checked.map(
    ({ parameter: { cast } }, at) =>
      sql`(${marker(at + 1)})::${cast === undefined ? typeNameSql(TEXT) : typeNameSql({ ...cast.type, array: false }, cast.array)}`,
  );
  const { text } = print(sql`select ${join([sql`null`, ...casts], sql`, `)}`, dialect);
  return { text, values: checked.map(({ i }) => values[i] ?? null) };
}

/** Compiles the marker of an array, which is a value of the statement but refers to no value of the request. */
function marker(index: number): Sql {
  return { kind: 'template', texts: [dialect.parameterMarker(index)], values: [] };
}

/** There are no arrays of arrays: they are sent as texts and parsed for each cohort. */
function arrayType({ cast }: Parameter): Sql {
  return cast === undefined || cast.array ? typeNameSql(TEXT, true) : typeNameSql({ ...cast.type, array: false }, true);
}

function delimiterOf({ cast }: Parameter): ',' | ';' {
  const isBox = cast !== undefined && !cast.array && cast.type.schema === 'pg_catalog' && cast.type.name === 'box';
  return isBox ? ';' : ',';
}

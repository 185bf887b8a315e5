/**
 * One statement for many subscribers: their values come as arrays, one element per cohort, and the
 * query runs for each of them beside the others. The arrays have the types of the values, so that
 * indexes serve a cohort as they serve a single request.
 */
import type { LiveQuery } from '../../../backend/backend.ts';
import { identifier, join, type Parameter, print, replaceParameters, type Sql, sql } from '../../../sql/fragment.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { baseType } from '../operators.ts';
import { dialect } from './dialect.ts';
import { typeName } from './type-name.ts';

const COHORTS = identifier('_cohorts');
const ANSWER = identifier('_answer');
const TEXT = baseType('text');

/** @param query a select of one row with a JSON column per root */
export function compileLiveQuery(query: Sql, columns: number): LiveQuery {
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
  const arrays = [
    sql`(${placeholder(1)})::uuid[]`,
    ...parameters.map((parameter, i) => sql`(${placeholder(i + 2)})::${arrayType(parameter)}`),
  ];
  const roots = Array.from({ length: columns }, (_, i) => identifier(`r${i + 1}`));
  const answers = roots.map((root) => sql`coalesce(${ANSWER}.${root}, 'null')`);
  const statement = sql`select ${join([sql`${COHORTS}."id"`, ...answers], sql`, `)} from unnest(${join(arrays, sql`, `)}) as ${COHORTS} (${join(
    [identifier('id'), ...names.values()],
    sql`, `,
  )}) left join lateral (${perCohort}) as ${ANSWER} (${join(roots, sql`, `)}) on true`;
  return {
    text: print(statement, dialect).text,
    parameters,
    columns,
    batch: (ids, values) => [
      arrayLiteral(ids),
      ...parameters.map((parameter, i) =>
        arrayLiteral(
          values.map((cohort) => cohort[i] ?? null),
          delimiterOf(parameter),
        ),
      ),
    ],
  };
}

/** The arrays are values of the statement, not of a request: they have no reference behind them. */
function placeholder(index: number): Sql {
  return { kind: 'template', texts: [dialect.placeholder(index)], values: [] };
}

/** There are no arrays of arrays: those travel as texts and are read for each cohort. */
function arrayType({ cast }: Parameter): Sql {
  return cast === undefined || cast.array ? typeName(TEXT, true) : typeName({ ...cast.type, array: false }, true);
}

function delimiterOf({ cast }: Parameter): ',' | ';' {
  const isBox = cast !== undefined && !cast.array && cast.type.schema === 'pg_catalog' && cast.type.name === 'box';
  return isBox ? ';' : ',';
}

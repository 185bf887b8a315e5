/** Runs compiled statements with parameter values, without the driver of the service. */
import type pg from 'pg';
import type { Value } from '../../src/ir/value.ts';
import type { Parameter } from '../../src/sql/fragment.ts';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import type { Statement } from '../../src/backend/connection.ts';

export interface Values {
  readonly variables?: Readonly<Record<string, Json>>;
  readonly session?: Readonly<Record<string, string>>;
}

/** The JSON columns of the statement's single row. */
export async function runSelect(client: pg.Client, statement: Statement, values: Values = {}): Promise<readonly Json[]> {
  const result = await client.query({
    text: statement.text,
    values: [...parameterTexts(statement.parameters, values)],
    rowMode: 'array',
    types: { getTypeParser: () => (raw: string) => raw },
  });
  if (result.rows.length !== 1 || result.fields.length !== statement.columns) {
    throw new Error(`expected one row of ${statement.columns}, found ${result.rows.length} of ${result.fields.length}`);
  }
  return (result.rows[0] as unknown as string[]).map(parseJson);
}

export function parameterTexts(parameters: readonly Parameter[], values: Values): readonly (string | null)[] {
  return parameters.map(({ operand, encode }) => encode(resolve(operand.value, values)));
}

function resolve(value: Value, values: Values): Json {
  switch (value.kind) {
    case 'literal':
      return value.json;
    case 'variable':
      return values.variables?.[value.name] ?? null;
    case 'session':
      return values.session?.[value.name] ?? null;
    case 'session-variables':
      return values.session ?? {};
    case 'members':
      return ((values.variables?.[value.name] ?? []) as readonly JsonObject[]).map((object) => object[value.key] ?? null);
    case 'list':
      return value.items.map((item) => resolve(item, values));
    case 'cursor':
      return resolve(value.start, values);
    case 'transaction-local':
    case 'placeholder-name':
    case 'join-keys':
      throw new Error('a value of the run of a plan');
  }
}

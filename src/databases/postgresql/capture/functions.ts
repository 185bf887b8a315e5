/**
 * Trigger functions that capture changes of rows. They run as the service's role, so that writers of a table need no privilege to write the
 * log. They have the search path of the writer, so every name is qualified and operators are function calls.
 */
import { inCatalog, OPERATION_NAMES } from '../../../backend/capture-names.ts';
import type { CapturedTrigger } from '../../../backend/captures.ts';
import type { CatalogColumn, CatalogTable } from '../../../catalog/catalog.ts';
import type { CapturedOperationName, ColumnList } from '../../../metadata/event-trigger.ts';
import { identifier, join, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { dialect } from '../compile/dialect.ts';
import { isSpatial } from '../compile/operand.ts';
import { isStringified } from '../compile/output.ts';
import { CHANNEL } from './names.ts';

/** Half of the maximum number of arguments of a function. */
const PAIRS = 50;

const COMMA = sql`, `;
const NULL = sql`null`;

type Row = 'old' | 'new';
const ROWS: Readonly<Record<Row, Sql>> = { old: sql`old`, new: sql`new` };

export interface FunctionOptions {
  readonly stringifyNumericTypes: boolean;
}

/**
 * Version of the text of functions. Raise it with every change of the text: during an upgrade, services of the release before then leave
 * the new text in place. They read its events, so it may only add keys to payloads and columns with defaults to rows.
 */
export const FUNCTION_FORMAT = 1;

/** Returns the source text of the function for an operation of a trigger. */
export function functionBody({ definition, table }: CapturedTrigger, operation: CapturedOperationName, options: FunctionOptions): string {
  const { columns = '*', payload = '*' } = definition[operation] ?? {};
  const json = (row: Row): Sql => rowJson(table, payload, row, options);
  const before = operation === 'insert' ? NULL : json('old');
  const after = operation === 'delete' ? NULL : json('new');
  const key = orderKey({ definition, table }, operation === 'insert' ? 'new' : 'old');
  const body = sql`
declare
  who pg_catalog.text := pg_catalog.current_setting('svc.user', true);
  trace pg_catalog.text := pg_catalog.current_setting('svc.tracecontext', true);
begin${operation === 'update' ? unlessChanged(table, columns) : sql``}
  if pg_catalog.texteq(who, '') then who := null; end if;
  if pg_catalog.texteq(trace, '') then trace := null; end if;
  insert into ${inCatalog('event_log')} (schema_name, table_name, trigger_name, payload${key === null ? sql`` : sql`, order_key`})
  values (${string(table.name.schema)}, ${string(table.name.name)}, ${string(definition.name)}, pg_catalog.jsonb_build_object(
    'op', case when ${isPlannedFor(table)} then ${string(OPERATION_NAMES[operation])} end,
    'data', pg_catalog.jsonb_build_object('old', ${before}, 'new', ${after}),
    'session_variables', who::pg_catalog.jsonb, 'trace_context', trace::pg_catalog.jsonb)${key === null ? sql`` : sql`, ${key}`});
  if pg_catalog.int8eq(pg_catalog.pg_sequence_last_value(${string(print(inCatalog('event_waiting'), dialect).text)}::pg_catalog.regclass), '2') then
    perform pg_catalog.pg_notify(${string(CHANNEL)}, '');
  end if;
  return null;
end
`;
  return print(body, dialect).text;
}

/**
 * A condition that is always true and costs nothing at run time. Its constant makes the plan of the expression depend on the table: if the
 * type of a column changes, open sessions plan it again, instead of failing because a parameter has another type.
 */
function isPlannedFor({ id }: CatalogTable): Sql {
  return sql`${string(String(id))}::pg_catalog.oid is not null`;
}

function columnsOf(table: CatalogTable, names: ColumnList): readonly CatalogColumn[] {
  return names === '*' ? table.columns : table.columns.filter(({ name }) => names.includes(name));
}

/**
 * Returns early if the columns are unchanged, by the default operators of their types, with null equal to null. Types without such an
 * operator, such as json, are compared by their bytes. `*` compares whole rows, so an added or dropped column breaks no write.
 */
function unlessChanged(table: CatalogTable, columns: ColumnList): Sql {
  const row = (of: Row): Sql => {
    if (columns === '*') return ROWS[of];
    return sql`row(${join(
      columnsOf(table, columns).map(({ name }) => sql`${ROWS[of]}.${identifier(name)}`),
      COMMA,
    )})`;
  };
  return sql`
  begin
    if pg_catalog.record_eq(${row('old')}, ${row('new')}) and ${isPlannedFor(table)} then return null; end if;
  exception when undefined_function then
    if pg_catalog.record_image_eq(${row('old')}, ${row('new')}) and ${isPlannedFor(table)} then return null; end if;
  end;`;
}

function isPlain({ type }: CatalogColumn, { stringifyNumericTypes }: FunctionOptions): boolean {
  return !isSpatial(type) && !(stringifyNumericTypes && isStringified(type));
}

/** The columns of the payload as jsonb. */
function rowJson(table: CatalogTable, names: ColumnList, row: Row, options: FunctionOptions): Sql {
  const columns = columnsOf(table, names);
  // All columns that the row has when it is written, including added ones.
  if (names === '*' && columns.every((column) => isPlain(column, options))) return sql`pg_catalog.to_jsonb(${ROWS[row]})`;
  const pairs = columns.map((column) => sql`${string(column.name)}, ${columnJson(column, row, options)}`);
  const parts: Sql[] = [];
  for (let i = 0; i < pairs.length; i += PAIRS) parts.push(sql`pg_catalog.jsonb_build_object(${join(pairs.slice(i, i + PAIRS), COMMA)})`);
  return parts.reduce((all, part) => sql`pg_catalog.jsonb_concat(${all}, ${part})`);
}

function columnJson({ name, type }: CatalogColumn, row: Row, options: FunctionOptions): Sql {
  const value = sql`${ROWS[row]}.${identifier(name)}`;
  if (isSpatial(type)) {
    if (type.array) return value;
    // GeoJSON with 15 decimals and the long name of the reference system.
    return sql`${identifier(type.schema)}.st_asgeojson(${value}, 15, 4)::pg_catalog.jsonb`;
  }
  if (options.stringifyNumericTypes && isStringified(type))
    return type.array ? sql`${value}::pg_catalog.text[]` : sql`${value}::pg_catalog.text`;
  return value;
}

/** Key of events that are delivered in order; `null` without an order. Rows with the same hash share a key by chance. */
function orderKey({ definition, table }: CapturedTrigger, row: Row): Sql | null {
  const { ordering } = definition;
  if (ordering === undefined) return null;
  const columns = ordering === 'row' ? (table.primaryKey?.columns ?? []) : ordering;
  const values = columns.map((name) => sql`${ROWS[row]}.${identifier(name)}`);
  return sql`pg_catalog.hashtextextended(pg_catalog.jsonb_build_array(${join(values, COMMA)})::pg_catalog.text, '0')`;
}

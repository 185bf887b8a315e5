/**
 * Bodies of the triggers that record changes of rows. They run with the privileges of the service's user and the `sql_mode` of their
 * creation, but in the time zone of the writing session, so timestamps are read as they are stored.
 */
import { inCatalog, OPERATION_NAMES } from '../../../backend/capture-names.ts';
import type { CapturedTrigger } from '../../../backend/captures.ts';
import type { CatalogColumn, CatalogTable } from '../../../catalog/catalog.ts';
import type { CapturedOperationName, ColumnList } from '../../../metadata/event-trigger.ts';
import { identifier, join, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { createContext } from '../compile/context.ts';
import { dialect } from '../compile/dialect.ts';
import { outputSql, textOutputSql } from '../compile/output.ts';
import { familyOf } from '../families.ts';

const COMMA = sql`, `;
const NULL = sql`null`;
const USER = sql`@${identifier('svc.user')}`;
const TRACE = sql`@${identifier('svc.tracecontext')}`;

type Row = 'old' | 'new';
const ROWS: Readonly<Record<Row, Sql>> = { old: sql`old`, new: sql`new` };

export interface BodyOptions {
  readonly stringifyNumericTypes: boolean;
  /** Connected database. */
  readonly database: string;
}

/**
 * Version of the bodies of triggers. Raise it with every change of the bodies: during an upgrade, services of the release before then leave
 * the new bodies in place. They read their events, so a new body may only add keys to payloads and columns with defaults to rows.
 */
export const TRIGGER_FORMAT = 1;

/** Returns the body of the trigger for an operation. */
export function triggerBody({ definition, table }: CapturedTrigger, operation: CapturedOperationName, options: BodyOptions): string {
  const { columns = '*', payload = '*' } = definition[operation] ?? {};
  const payloadOf = (row: Row): Sql => rowJson(table, payload, row, options);
  const before = operation === 'insert' ? NULL : payloadOf('old');
  const after = operation === 'delete' ? NULL : payloadOf('new');
  const conditions = [
    ...(operation === 'update' ? [changed(table, columns)] : []),
    // The replication applier runs as this user.
    ...(definition.triggerOnReplication === false ? [sql`user() not like '<replication\\_slave>%'`] : []),
  ];
  const write = sql`
    set event = json_object('op', ${string(OPERATION_NAMES[operation])}, 'data', json_object('old', ${before}, 'new', ${after}),
      'session_variables', json_compact(if(json_valid(${USER}), ${USER}, null)),
      'trace_context', json_compact(if(json_valid(${TRACE}), ${TRACE}, null)));
    if event is null then
      signal sqlstate '45000' set message_text = 'the change is too large for an event: raise max_allowed_packet';
    end if;
    insert into ${inCatalog('event_log')} (source_database, schema_name, table_name, trigger_name, payload, order_key)
    values (${string(options.database)}, ${string(schemaNameOf(table, options.database))}, ${string(table.name.name)}, ${string(definition.name)}, event, ${
      orderKey({ definition, table }, operation === 'insert' ? 'new' : 'old') ?? NULL
    });`;
  const guarded =
    conditions.length === 0
      ? write
      : sql`
  if ${join(conditions, sql` and `)} then${write}
  end if;`;
  return print(
    sql`declare event longtext character set utf8mb4 collate utf8mb4_bin;${guarded}
end`,
    dialect,
  ).text;
}

/** Tables of the connected database have no schema in the service. */
export function schemaNameOf({ name }: Pick<CatalogTable, 'name'>, database: string): string {
  return name.schema === '' ? database : name.schema;
}

function columnsOf(table: CatalogTable, names: ColumnList): readonly CatalogColumn[] {
  return names === '*' ? table.columns : table.columns.filter(({ name }) => names.includes(name));
}

/** Condition that a column has changed, with null equal to null. Texts are compared by bytes, not by their collations. */
function changed(table: CatalogTable, names: ColumnList): Sql {
  const same = columnsOf(table, names).map((column) => {
    const [before, after] = [comparable(column, 'old'), comparable(column, 'new')];
    return sql`${before} <=> ${after}`;
  });
  return sql`not (${join(same, sql` and `)})`;
}

function comparable({ name, type }: CatalogColumn, row: Row): Sql {
  const value = sql`${ROWS[row]}.${identifier(name)}`;
  switch (familyOf(type).kind) {
    case 'text':
    case 'json':
    case 'geometry':
      return sql`binary ${value}`;
    // When clocks are set back, two timestamps have the same text.
    case 'timestamp':
      return sql`unix_timestamp(${value})`;
    default:
      return value;
  }
}

function rowJson(table: CatalogTable, names: ColumnList, row: Row, options: BodyOptions): Sql {
  const context = createContext(options);
  const pairs = columnsOf(table, names).map((column) => {
    const printed =
      familyOf(column.type).kind === 'timestamp'
        ? momentSql(sql`${ROWS[row]}.${identifier(column.name)}`)
        : outputSql(context, valueSql(column, row), column.type);
    return sql`${string(column.name)}, ${printed}`;
  });
  return sql`json_object(${join(pairs, COMMA)})`;
}

/** Every value but zero is true, as in queries. */
function valueSql({ name, type }: CatalogColumn, row: Row): Sql {
  const column = sql`${ROWS[row]}.${identifier(name)}`;
  return familyOf(type).kind === 'boolean' ? sql`(${column} <> 0)` : column;
}

/** Prints a timestamp in UTC, with as many digits as the column has, in any time zone of the session. */
function momentSql(column: Sql): Sql {
  const utc = sql`cast('1970-01-01' as datetime(6)) + interval unix_timestamp(${column}) second`;
  const digits = sql`char_length(cast(${column} as char))`;
  // The zero date is not a valid time.
  const text = sql`if(${column} = 0, cast(${column} as char), left(cast(${utc} as char), ${digits}))`;
  return sql`concat(replace(${text}, ' ', 'T'), '+00:00')`;
}

/** Returns the key of events that are delivered in order, or `null` without ordering. Rows share a key if their hashes collide. */
function orderKey({ definition, table }: CapturedTrigger, row: Row): Sql | null {
  const { ordering } = definition;
  if (ordering === undefined) return null;
  const names = ordering === 'row' ? (table.primaryKey?.columns ?? []) : ordering;
  const values = columnsOf(table, names).map((column) =>
    familyOf(column.type).kind === 'timestamp'
      ? momentSql(sql`${ROWS[row]}.${identifier(column.name)}`)
      : textOutputSql(valueSql(column, row), column.type),
  );
  return sql`conv(left(md5(json_array(${join(values, COMMA)})), 15), 16, 10)`;
}

/**
 * `insert` of the legacy query API, for administrators: set-ups and older clients fill tables with
 * it. Values travel as parameters and take the type of their column, so every type that has a
 * text form works; GeoJSON goes through the function of its extension.
 */
import { type CatalogColumn, type CatalogTable, nameKey } from '../../catalog/catalog.ts';
import { isAdmin } from '../../auth/session.ts';
import type { Backend, Connection } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { anyJson, type Codec, leaf, list, literal, mapOf, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import { printName } from '../../metadata/table-name.ts';
import { identifier, join, parameter, print, type Sql, sql, string } from '../../sql/fragment.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, numberText, parseJson, printJson } from '../../util/json.ts';
import { at } from '../../util/path.ts';
import { operation, type OperationGroup, type RunContext } from '../operation.ts';
import { openSource, sourceArgument, type TableTarget } from '../target.ts';
import { arrayLiteral } from './array-literal.ts';
import { dialect } from './dialect.ts';

/** The kind that the legacy API is about. */
const KIND = 'pg';
/** Below the protocol's bound of 65,535 parameters. */
const MAX_PARAMETERS = 60_000;

interface OnConflict {
  readonly action: 'ignore' | 'update';
  readonly constraint: string | undefined;
  readonly constraintOn: readonly string[] | undefined;
}

interface Insert extends TableTarget {
  readonly objects: readonly ReadonlyMap<string, Json>[];
  readonly onConflict: OnConflict | undefined;
  readonly returning: readonly string[] | undefined;
}

const oneOrMore: Codec<readonly string[]> = leaf(
  '[Text]',
  (json, path) => (typeof json === 'string' ? [json] : list(nonEmptyText).decode(json, path)),
  (value) => [...value],
);

const onConflictCodec: Codec<OnConflict> = object('OnConflict', {
  action: required(literal('ConflictAction', ['ignore', 'update'])),
  constraint: optional(nonEmptyText),
  constraintOn: optional(oneOrMore),
});

export const insertOperation: OperationGroup = (backends) =>
  backends
    .filter((backend) => backend.kind === KIND)
    .map((backend) =>
      operation<Insert>({
        type: 'insert',
        args: object('InsertQuery', {
          table: required(backend.tableName),
          source: sourceArgument,
          objects: required(list(mapOf(anyJson))),
          onConflict: optional(onConflictCodec),
          returning: optional(list(nonEmptyText)),
        }),
        changes: 'database',
        documentation: {
          summary: 'Inserts rows into a tracked table.',
          example: { table: 'author', objects: [{ name: 'Author 1' }], returning: ['id'] },
        },
        run: (args, context) => insert(args, backend, context),
      }),
    );

async function insert(args: Insert, backend: Backend, context: RunContext): Promise<Json> {
  if (!isAdmin(context.session))
    throw new SvcError('not-supported', 'inserting through this endpoint is supported for administrators only; use GraphQL');
  const source = openSource(args.source, backend, context.snapshot);
  const table = context.snapshot.cache.sources.get(args.source)?.tables.get(nameKey(args.table))?.catalog;
  if (table === undefined) {
    throw new SvcError('not-exists', `table "${printName(args.table, backend.defaultSchema)}" does not exist`, {
      path: at(context.path, 'table'),
    });
  }
  if (args.objects.length === 0)
    throw new SvcError('unexpected-payload', 'objects should not be empty', { path: at(context.path, 'objects') });
  const columns = writtenColumns(args, table, context);
  const returned = args.returning && returnedColumns(args.returning, table, context);
  const perStatement = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length));
  const answers = await source.transaction({}, async (connection) => {
    const found: JsonObject[] = [];
    for (let start = 0; start < args.objects.length; start += perStatement) {
      const objects = args.objects.slice(start, start + perStatement);
      found.push(await runInsert(connection, insertStatement(table, columns, objects, args.onConflict, returned), context));
    }
    return found;
  });
  const affected = answers.reduce((sum, answer) => sum + (answer['affected_rows'] as number), 0);
  if (returned === undefined) return { affected_rows: affected };
  return { affected_rows: affected, returning: answers.flatMap((answer) => answer['returning'] as Json[]) };
}

async function runInsert(connection: Connection, statement: Sql, { signal }: RunContext): Promise<JsonObject> {
  const { text, parameters } = print(statement, dialect);
  const values = parameters.map(({ operand, encode }) => (operand.value.kind === 'literal' ? encode(operand.value.json) : null));
  const result = await connection.query(text, values, signal === undefined ? {} : { signal });
  return parseJson(result.rows[0]?.[0] ?? '{}') as JsonObject;
}

function columnOf(table: CatalogTable, name: string, context: RunContext, ...keys: readonly (string | number)[]): CatalogColumn {
  const column = table.columns.find((each) => each.name === name);
  if (column !== undefined) return column;
  throw new SvcError('not-exists', `no such column exists: "${name}"`, { path: keys.reduce(at, context.path) });
}

/** The columns that any of the objects names; the first one of the table when none does, for its default. */
function writtenColumns({ objects }: Insert, table: CatalogTable, context: RunContext): readonly CatalogColumn[] {
  const columns = new Map<string, CatalogColumn>();
  objects.forEach((row, i) => {
    for (const name of row.keys()) if (!columns.has(name)) columns.set(name, columnOf(table, name, context, 'objects', i));
  });
  return columns.size > 0 ? [...columns.values()] : table.columns.slice(0, 1);
}

function returnedColumns(returning: readonly string[], table: CatalogTable, context: RunContext): readonly CatalogColumn[] {
  const columns = returning.flatMap((name, i) => (name === '*' ? table.columns : [columnOf(table, name, context, 'returning', i)]));
  return [...new Set(columns)];
}

const COMMA = sql`, `;

function insertStatement(
  table: CatalogTable,
  columns: readonly CatalogColumn[],
  objects: readonly ReadonlyMap<string, Json>[],
  onConflict: OnConflict | undefined,
  returned: readonly CatalogColumn[] | undefined,
): Sql {
  const names = join(
    columns.map(({ name }) => identifier(name)),
    COMMA,
  );
  let count = 0;
  const rows = objects.map((row) => {
    const cells = columns.map((column) => {
      const json = row.get(column.name);
      return json === undefined ? sql`default` : cell(json, column, `value ${count++}`);
    });
    return sql`(${join(cells, COMMA)})`;
  });
  const relation = sql`${identifier(table.name.schema)}.${identifier(table.name.name)}`;
  const conflict = onConflict === undefined ? sql`` : conflictClause(onConflict, columns);
  const insert = sql`insert into ${relation} (${names}) values ${join(rows, COMMA)}${conflict} returning *`;
  const items = [string('affected_rows'), sql`(select count(*) from inserted)`];
  if (returned !== undefined) items.push(string('returning'), returningClause(returned));
  return sql`with inserted as (${insert}) select json_build_object(${join(items, COMMA)})::text`;
}

function returningClause(columns: readonly CatalogColumn[]): Sql {
  if (columns.length === 0) return sql`(select coalesce(json_agg('{}'::json), '[]') from inserted)`;
  const outputs = join(
    columns.map((column) =>
      isSpatial(column)
        ? sql`${spatialFunction(column, 'st_asgeojson')}(${identifier(column.name)})::json as ${identifier(column.name)}`
        : identifier(column.name),
    ),
    COMMA,
  );
  return sql`(select coalesce(json_agg(row_to_json(r)), '[]') from (select ${outputs} from inserted) as r)`;
}

function conflictClause({ action, constraint, constraintOn }: OnConflict, columns: readonly CatalogColumn[]): Sql {
  if (action === 'update' && constraint === undefined && constraintOn === undefined) {
    throw new SvcError('unexpected-payload', "Expecting 'constraint' or 'constraint_on' when the 'action' is 'update'");
  }
  const target =
    constraint !== undefined
      ? sql` on constraint ${identifier(constraint)}`
      : constraintOn !== undefined
        ? sql` (${join(constraintOn.map(identifier), COMMA)})`
        : sql``;
  if (action === 'ignore') return sql` on conflict${target} do nothing`;
  const sets = columns.map(({ name }) => sql`${identifier(name)} = excluded.${identifier(name)}`);
  return sql` on conflict${target} do update set ${join(sets, COMMA)}`;
}

function isSpatial({ type }: CatalogColumn): boolean {
  return !type.array && (type.name === 'geometry' || type.name === 'geography');
}

/** A function of the extension that brought the column's type: it is in the same schema. */
function spatialFunction({ type }: CatalogColumn, name: string): Sql {
  return sql`${identifier(type.schema)}.${identifier(name)}`;
}

/** A parameter; left without a type it takes that of the column. */
function cell(json: Json, column: CatalogColumn, key: string): Sql {
  const encode = (value: Json): string | null => wireText(value, column);
  const value = parameter({ operand: { value: { kind: 'literal', json }, type: column.type, list: false }, key, encode });
  if (!isSpatial(column) || !isJsonObject(json)) return value;
  const type = sql`${identifier(column.type.schema)}.${identifier(column.type.name)}`;
  return sql`${spatialFunction(column, 'st_geomfromgeojson')}((${value})::text)::${type}`;
}

function wireText(json: Json, { type }: CatalogColumn): string | null {
  if (json === null) return null;
  const isJson = type.name === 'json' || type.name === 'jsonb';
  if (type.array && isJsonArray(json)) return arrayLiteral(json, isJson);
  return isJson && !type.array ? printJson(json) : scalarText(json);
}

function scalarText(json: Json): string {
  if (typeof json === 'string') return json;
  return isJsonNumber(json) ? numberText(json) : printJson(json);
}

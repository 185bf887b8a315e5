import type { Backend, Connection, RunSqlResult } from '../../backend/backend.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import { bool, defaulted, object, optional, required, text } from '../../metadata/codec.ts';
import type { SourceMetadata } from '../../metadata/metadata.ts';
import type { Refresh } from '../../state/state.ts';
import type { Json } from '../../util/json.ts';
import { define, everyKind, type OperationGroup, perKind, type RunContext } from '../operation.ts';
import { openSource, sourceArgument } from '../target.ts';
import { type DroppedObjects, droppedObjects, NOTHING_DROPPED } from './dropped-objects.ts';
import { removeDropped } from './remove-dropped.ts';

/** SQL that may change what metadata depends on: it is worth looking at the catalog again. */
const MAY_CHANGE_CATALOG = /\b(?:alter|drop|replace|create function|comment on)\b/i;

interface RunSql {
  readonly sql: string;
  readonly source: string;
  readonly cascade: boolean;
  readonly checkMetadataConsistency: boolean | undefined;
  readonly readOnly: boolean;
  readonly noTransaction: boolean;
}

/** `run_sql` of every kind. */
export const runSqlOperations: OperationGroup = perKind('run_sql', everyKind, (backend) =>
  define<RunSql>({
    args: object('RunSQL', {
      sql: required(text),
      source: sourceArgument,
      cascade: defaulted(bool, () => false),
      checkMetadataConsistency: optional(bool),
      readOnly: defaulted(bool, () => false),
      noTransaction: defaulted(bool, () => false),
    }),
    changes: 'database',
    documentation: {
      summary: 'Runs SQL in a source and gives the rows of the last statement.',
      example: { source: 'default', sql: 'select id, name from author', read_only: true },
    },
    readOnly: ({ readOnly }) => readOnly,
    run: (args, context) => runSql(args, backend, context),
  }),
);

async function runSql(args: RunSql, backend: Backend, context: RunContext): Promise<Json> {
  const source = openSource(args.source, backend, context.snapshot);
  const how = context.signal === undefined ? {} : { signal: context.signal };
  const { sql } = args;
  const checks = !args.readOnly && (args.checkMetadataConsistency ?? MAY_CHANGE_CATALOG.test(sql));
  if (!checks) {
    const run = (connection: Connection): Promise<RunSqlResult> => connection.runSql(sql, how);
    return printResult(await (args.noTransaction && !args.readOnly ? run(source) : source.transaction({ readOnly: args.readOnly }, run)));
  }
  let dropped: DroppedObjects = NOTHING_DROPPED;
  const runChecked = async (connection: Connection): Promise<RunSqlResult> => {
    const done = await connection.runSql(sql, how);
    dropped = droppedObjects(context.snapshot, args.source, await connection.introspect());
    // Refuses inside the transaction, so that the SQL is taken back.
    removeDropped(context.snapshot.metadata, context.snapshot, dropped, args.cascade);
    return done;
  };
  const result = await (args.noTransaction ? runChecked(source) : source.transaction({}, runChecked));
  await context.change({
    edit: (metadata, snapshot) => removeDropped(metadata, snapshot, dropped, true),
    refresh: trackedObjects(context.snapshot.metadata.sources.get(args.source)),
    inconsistencies: 'allow',
  });
  return printResult(result);
}

/** All that the schema cache knows of the source's catalog; the rest is read when it is tracked. */
function trackedObjects(source: SourceMetadata | undefined): Refresh {
  if (source === undefined) return {};
  const tables = [...source.tables.values()];
  const functions = [...source.functions.values()].map((entry) => entry.function);
  for (const { computedFields } of tables) for (const field of computedFields.values()) functions.push(field.function);
  const inSource = (name: QualifiedName): { source: string; name: QualifiedName } => ({ source: source.name, name });
  return { tables: tables.map(({ table }) => inSource(table)), functions: functions.map(inSource) };
}

/** The header row first; every value is text, SQL NULL the text `NULL`. */
function printResult(result: RunSqlResult): Json {
  if (result.kind === 'CommandOk') return { result_type: 'CommandOk', result: null };
  return { result_type: 'TuplesOk', result: [[...result.columns], ...result.rows.map((row) => row.map((value) => value ?? 'NULL'))] };
}

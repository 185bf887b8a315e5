/** Tracks or untracks many tables in one request. A failure becomes a warning. */
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { bool, type Codec, defaulted, list, object, required } from '../../metadata/codec.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { Json } from '../../util/json.ts';
import { at } from '../../util/path.ts';
import { define, type EditContext, everyKind, type OperationGroup, perKind, type OperationContext, SUCCESS } from '../operation.ts';
import { refused } from '../operation-error.ts';
import type { Warning } from '../../state/state.ts';
import { namedInSource, type TableTarget } from '../target.ts';
import { unnamedTable } from '../unnamed-tables.ts';
import { type TrackTable, trackTable, trackTableArguments, type UntrackTable, untrackTableArguments, untrackTables } from './tables.ts';

interface Batch<A> {
  readonly tables: readonly A[];
  readonly allowWarnings: boolean;
}

interface BatchKind<A> {
  /** `track`, `untrack` */
  readonly verb: string;
  readonly refreshes: boolean;
  edit(metadata: Metadata, items: readonly A[], context: EditContext): Metadata;
  /** Returns warnings about an item that succeeds. */
  warnings(item: A): readonly Warning[];
}

interface Failure<A> {
  readonly item: A;
  readonly error: SvcError;
}

async function runBatch<A extends TableTarget>(
  kind: BatchKind<A>,
  { tables: decoded, allowWarnings }: Batch<A>,
  backend: Backend,
  context: OperationContext,
): Promise<Json> {
  const tables = decoded.map((target) => namedInSource(target, backend, context.snapshot));
  refuseDuplicates(tables, backend, context);
  if (tables.length === 0) return SUCCESS;
  const done = (items: readonly A[], warnings: readonly Json[] = []): Json => {
    const all = [...warnings, ...items.flatMap((item) => kind.warnings(item)).map((each) => ({ ...each }))];
    return all.length === 0 ? SUCCESS : { message: 'success', warnings: all };
  };
  const change = async (items: readonly A[]): Promise<void> => {
    const { backends, kinds } = context.services;
    await context.change({
      edit: (metadata, snapshot) => kind.edit(metadata, items, { snapshot, backends, kinds, path: context.path }),
      edited: items.map(({ source, table }) => objectId.table(source, table)),
      ...(kind.refreshes ? { refresh: { tables: items.map(({ source, table }) => ({ source, name: table })) } } : {}),
    });
  };
  const failures: Failure<A>[] = [];
  try {
    await change(tables);
    return done(tables);
  } catch (thrown) {
    const error = refusalOf(thrown);
    if (tables.length === 1) failures.push({ item: tables[0] as A, error });
  }
  // At least one of them fails, so each is tried by itself.
  if (tables.length > 1) {
    for (const item of tables) {
      try {
        await change([item]);
      } catch (thrown) {
        failures.push({ item, error: refusalOf(thrown) });
      }
    }
  }
  const warnings = failures.map(({ item, error }) => warning(kind.verb, item, error, backend));
  if (failures.length === 0) return done(tables);
  if (failures.length === tables.length) {
    throw new SvcError('invalid-configuration', `all tables failed to ${kind.verb}`, { internal: warnings });
  }
  if (!allowWarnings) throw new SvcError('metadata-warnings', 'failed due to metadata warnings', { internal: warnings });
  const failed = new Set(failures.map(({ item }) => item));
  return done(
    tables.filter((item) => !failed.has(item)),
    warnings,
  );
}

/** Returns the refusal of a change. Rethrows other errors, such as a stale version, which end the request. */
function refusalOf(thrown: unknown): SvcError {
  if (thrown instanceof SvcError && thrown.code !== 'conflict') return thrown;
  throw thrown;
}

function warning(verb: string, { source, table }: TableTarget, error: SvcError, backend: Backend): Json {
  return {
    message: error.message,
    type: 'table',
    name: `table ${printName(table, backend.defaultSchema)} in source ${source}`,
    code: `${verb}-table-failed`,
  };
}

function refuseDuplicates(tables: readonly TableTarget[], backend: Backend, context: OperationContext): void {
  const seen = new Set<string>();
  const duplicates = new Set<string>();
  for (const { source, table } of tables) {
    const printed = `${source}.${printName(table, backend.defaultSchema)}`;
    if (seen.has(printed)) duplicates.add(printed);
    seen.add(printed);
  }
  if (duplicates.size === 0) return;
  throw new SvcError('bad-request', `The following tables occur more than once in the request: ${[...duplicates].join(', ')}`, {
    path: at(context.path, 'tables'),
  });
}

function batchArguments<A>(item: Codec<A>): Codec<Batch<A>> {
  return object('TablesBatch', { tables: required(list(item)), allowWarnings: defaulted(bool, () => true) });
}

const trackAll =
  (backend: Backend) =>
  (metadata: Metadata, items: readonly TrackTable[], context: EditContext): Metadata =>
    items.reduce((edited, item) => trackTable(edited, item, backend, context), metadata);

const untrackAll =
  (backend: Backend) =>
  (metadata: Metadata, items: readonly UntrackTable[], context: EditContext): Metadata =>
    untrackTables(metadata, items, backend, context);

const DUPLICATES = refused('bad-request', 'a table occurs more than once');
const WARNINGS = refused('metadata-warnings', 'there are warnings and `allow_warnings` is false; `internal` has them');

const trackMany = perKind('track_tables', everyKind, (backend) =>
  define({
    args: batchArguments(trackTableArguments(backend)),
    changes: 'metadata',
    errors: [DUPLICATES, refused('invalid-configuration', 'no table can be tracked; `internal` has the reasons'), WARNINGS],
    documentation: {
      summary: 'Tracks many tables at once. A table that cannot be tracked becomes a warning.',
      example: {
        tables: [
          { source: 'default', table: 'author' },
          { source: 'default', table: 'article' },
        ],
        allow_warnings: true,
      },
    },
    run: (args, context) =>
      runBatch(
        { verb: 'track', refreshes: true, edit: trackAll(backend), warnings: (item) => unnamedTable(item, backend.defaultSchema) },
        args,
        backend,
        context,
      ),
  }),
);

const untrackMany = perKind('untrack_tables', everyKind, (backend) =>
  define({
    args: batchArguments(untrackTableArguments(backend)),
    changes: 'metadata',
    errors: [DUPLICATES, refused('invalid-configuration', 'no table can be untracked; `internal` has the reasons'), WARNINGS],
    documentation: {
      summary: 'Untracks many tables at once. A table that cannot be untracked becomes a warning.',
      example: { tables: [{ source: 'default', table: 'author' }], allow_warnings: true },
    },
    run: (args, context) =>
      runBatch({ verb: 'untrack', refreshes: false, edit: untrackAll(backend), warnings: () => [] }, args, backend, context),
  }),
);

export const batchTrackingOperations: readonly OperationGroup[] = [trackMany, untrackMany];

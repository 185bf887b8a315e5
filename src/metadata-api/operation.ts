/**
 * An administration operation is one entry: its name, the codec of its arguments, and its effect. `edit` is pure (metadata in, metadata
 * out) and runs inside `State.change`; `run` is for other effects, or for an answer other than success. No code outside of an entry depends
 * on its name.
 */
import type { ActionLog } from '../metadata-store/action-log.ts';
import type { Session } from '../auth/session.ts';
import type { Backend } from '../backend/backend.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import type { Codec, FieldDescription } from '../metadata/codec.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE } from '../metadata/source.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { ScheduledEvents } from '../metadata-store/scheduled-events.ts';
import type { CatalogStateStore } from '../metadata-store/catalog-state.ts';
import type { MetadataHistory } from '../metadata-store/metadata-history.ts';
import type { Change, ChangeResult, InconsistencyRule, Refresh, State, Warning } from '../state/state.ts';
import type { Cancellation } from '../util/cancellation.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { OperationAnswer } from './answer.ts';
import type { PollerReport } from '../subscriptions/poller-report.ts';
import { INVALID_ARGUMENTS, type OperationErrors, STALE_VERSION } from './operation-error.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';

/** Parts of the service that operations use; the same for every request. */
export interface Services {
  readonly state: State;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  /** Includes `internal` in the errors of a `bulk_keep_going`. */
  readonly showInternal: boolean;
  readonly catalogState: CatalogStateStore;
  readonly metadataHistory: MetadataHistory;
  readonly scheduledEvents: ScheduledEvents;
  /** Calls of asynchronous actions. */
  readonly actionLog: Pick<ActionLog, 'clear'>;
  /** Pipeline of GraphQL requests, which data operations use, too. */
  readonly pipeline: RequestPipeline;
  /** Returns the current pollers of subscriptions. */
  readonly pollers: () => readonly PollerReport[];
  /** Runs operations of `/v1/metadata` on a draft. */
  readonly changeDraft: ChangeDraft;
  /** Called after SQL of an administrator that is not read-only. */
  readonly onSql: (run: SqlRun) => void;
}

/** SQL of an administrator that was run in a source. */
export interface SqlRun {
  readonly source: string;
  readonly sql: string;
  /** Header `x-svc-client-name` of the request. */
  readonly clientName: string | undefined;
}

/**
 * @param changes operations, as in a `bulk`; those that do more than change the metadata are refused
 * @param path path of `changes`
 * @throws SvcError of an operation
 */
export type ChangeDraft = (draft: State, changes: readonly Json[], context: OperationContext, path: Path) => Promise<void>;

export interface EditContext {
  /** State before the change, without pending edits of a bulk. */
  readonly snapshot: Snapshot;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  /** Path of the arguments: `$.args`, `$.args[2].args` in a bulk. */
  readonly path: Path;
}

export interface OperationContext {
  readonly services: Services;
  readonly session: Session;
  readonly signal?: Cancellation;
  /** Options of a data operation. Its timeout begins now. */
  readonly requestOptions: RequestOptions;
  readonly path: Path;
  /** Snapshot after all preceding edits. */
  readonly snapshot: Snapshot;
  /** Result of the change that included this operation's `edit`; `undefined` without an edit. */
  readonly changed: ChangeResult | undefined;
  /** Applies a further change, as `State.change` does. It is undone if the bulk fails. */
  change(change: Change): Promise<ChangeResult>;
  /** Runs a task that cannot be undone after the whole request is stored. A failure becomes a warning in the answer. */
  afterCommit(task: AfterCommit): void;
  /** Adds a warning to the answer of the request. */
  warn(warning: Warning): void;
}

/** Task that runs after the request is stored. */
export interface AfterCommit {
  run(): Promise<void>;
  /** Warning for a failure; the reason is added to its message. */
  readonly warning: Warning;
}

/** Error message of an operation that would remove an object on which others depend. */
export const BROKEN_BY_DROP = 'cannot continue due to newly found inconsistent metadata';

export interface Documentation {
  /** One sentence. */
  readonly summary: string;
  /** Further paragraphs in Markdown. */
  readonly details?: string;
  /** Arguments of an example. */
  readonly example: Json;
}

export interface OperationDefinition<A> {
  /** Version of the arguments, if there are two. */
  readonly version?: 2;
  readonly args: Codec<A>;
  /** `metadata`: increments the version; `database`: acts on a source; `nothing`: only reads. */
  readonly changes: 'metadata' | 'database' | 'nothing';
  /** Specific errors. Every operation also has those for invalid arguments and for stale versions. */
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** Cooperative preparation of a slow `edit`. Does not throw: `edit` reports errors. */
  prepareEdit?(args: A, context: EditContext): Cooperative<void>;
  /** @throws SvcError to refuse. Its path defaults to that of the arguments */
  edit?(metadata: Metadata, args: A, context: EditContext): Metadata;
  /** Parts of sources to read again before the consistency check. */
  refresh?(args: A): Refresh;
  /** Ids of the edited objects. */
  edited?(args: A): readonly string[];
  inconsistencies?(args: A): InconsistencyRule;
  /** Warnings that depend on the arguments only. */
  warnings?(args: A): readonly Warning[];
  /** See `Change.clearsEvents`. */
  readonly clearsEvents?: boolean;
  /** True if `edit` reads dependencies from the snapshot, which must therefore include the earlier edits of a bulk. */
  readonly readsDependencies?: boolean;
  /** Error message for a change that makes other objects inconsistent, unless it is the usual one. */
  readonly othersBroke?: string;
  /** Returns whether `run` may also change metadata, because of its effect on a database. */
  followsUp?(args: A): boolean;
  /** Returns whether these arguments change nothing. The default follows from `changes`. */
  readOnly?(args: A): boolean;
  /** Returns whether these arguments are refused if the metadata is read-only. The default follows from `changes`. */
  isGuarded?(args: A): boolean;
  /** Returns whether these arguments contain SQL that runs as it is. Default false. */
  runsSql?(args: A): boolean;
  /** True if it adds addresses that the service calls with values of its environment: sources, servers, handlers. */
  readonly bringsAddresses?: boolean;
  /** Runs after `edit` and returns the answer. Defaults to `{message: "success"}`. */
  run?(args: A, context: OperationContext): Promise<OperationAnswer>;
}

export interface Operation<A> extends OperationDefinition<A> {
  readonly type: string;
}

/** Operation with decoded and bound arguments. */
export interface Prepared {
  readonly type: string;
  readonly unprefixed: string | undefined;
  readonly changes: 'metadata' | 'database' | 'nothing';
  readonly prepareEdit: ((context: EditContext) => Cooperative<void>) | undefined;
  readonly edit: ((metadata: Metadata, context: EditContext) => Metadata) | undefined;
  readonly refresh: Refresh;
  readonly edited: readonly string[];
  readonly inconsistencies: InconsistencyRule;
  readonly warnings: readonly Warning[];
  readonly clearsEvents: boolean;
  readonly readsDependencies: boolean;
  readonly othersBroke: string | undefined;
  readonly readOnly: boolean;
  readonly followsUp: boolean;
  readonly isGuarded: boolean;
  readonly runsSql: boolean;
  readonly bringsAddresses: boolean;
  readonly run: ((context: OperationContext) => Promise<OperationAnswer>) | undefined;
  /** Source of the operation, if it determines how names are decoded. */
  readonly ofSource?: {
    readonly name: string;
    /** Decodes the arguments again with the backend of the open source. */
    prepare(backend: Backend): Prepared;
  };
}

/** Operation with a hidden argument type. */
export interface OperationEntry {
  readonly type: string;
  readonly version: 1 | 2;
  /** Name without the prefix of its kind; `undefined` for operations without a kind. */
  readonly unprefixed: string | undefined;
  readonly changes: 'metadata' | 'database' | 'nothing';
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** Keys of its arguments; `undefined` if they are not an object with fixed keys. */
  readonly arguments: readonly FieldDescription[] | undefined;
  /** @throws SvcError parse-failed */
  prepare(args: Json, path: Path): Prepared;
}

export const SUCCESS: Json = { message: 'success' };

export function operation<A>(definition: Operation<A>, unprefixed?: string): OperationEntry {
  const { prepareEdit, edit, run } = definition;
  return {
    type: definition.type,
    version: definition.version ?? 1,
    unprefixed,
    changes: definition.changes,
    errors: [INVALID_ARGUMENTS, ...definition.errors, ...(definition.changes === 'metadata' ? [STALE_VERSION] : [])],
    documentation: definition.documentation,
    arguments: definition.args.fields,
    prepare(json, path) {
      const args = definition.args.decode(json, path);
      return {
        type: definition.type,
        unprefixed,
        changes: definition.changes,
        prepareEdit: prepareEdit && ((context) => prepareEdit.call(definition, args, context)),
        edit: edit && ((metadata, context) => edit.call(definition, metadata, args, context)),
        refresh: definition.refresh?.(args) ?? {},
        edited: definition.edited?.(args) ?? [],
        inconsistencies: definition.inconsistencies?.(args) ?? 'reject',
        warnings: definition.warnings?.(args) ?? [],
        clearsEvents: definition.clearsEvents ?? false,
        readsDependencies: definition.readsDependencies ?? false,
        othersBroke: definition.othersBroke,
        readOnly: definition.readOnly?.(args) ?? definition.changes === 'nothing',
        followsUp: definition.followsUp?.(args) ?? false,
        isGuarded: definition.isGuarded?.(args) ?? definition.changes === 'metadata',
        runsSql: definition.runsSql?.(args) ?? false,
        bringsAddresses: definition.bringsAddresses ?? false,
        run: run && ((context) => run.call(definition, args, context)),
      };
    },
  };
}

/** Infers the type of the arguments from their codec. */
export function define<A>(definition: OperationDefinition<A>): OperationDefinition<A> {
  return definition;
}

export type OperationGroup = (backends: readonly Backend[]) => readonly OperationEntry[];

/** Makes an operation for each capable backend, under the prefix of its kind and of every alias: `pg_track_table`, `postgres_track_table`. */
export function perKind<A>(
  name: string,
  capable: (backend: Backend) => boolean,
  make: (backend: Backend) => OperationDefinition<A>,
): OperationGroup {
  return (backends) =>
    backends.filter(capable).flatMap((backend) => {
      const definition = make(backend);
      const { exampleName } = backend;
      const own =
        exampleName === undefined
          ? definition
          : {
              ...definition,
              documentation: { ...definition.documentation, example: withNames(definition.documentation.example, exampleName) },
            };
      return [backend.kind, ...backend.aliases].map((prefix) => {
        const type = `${prefix}_${name}`;
        const entry = operation({ ...own, type }, name);
        const namesSource = definition.args.fields?.some(({ key }) => key === 'source') === true;
        if (backend.namedWithin === undefined || !namesSource) return entry;
        return namedBySource(entry, backend.kind, (other) => operation({ ...make(other), type }, name));
      });
    });
}

/** Wraps an operation, so that its arguments are decoded again once the backend of its source is known. */
function namedBySource(entry: OperationEntry, kind: string, make: (backend: Backend) => OperationEntry): OperationEntry {
  return {
    ...entry,
    prepare(json, path) {
      const prepared = entry.prepare(json, path);
      const source = isJsonObject(json) ? json['source'] : undefined;
      const name = typeof source === 'string' ? source : DEFAULT_SOURCE;
      return { ...prepared, ofSource: { name, prepare: (own) => (own.kind === kind ? make(own).prepare(json, path) : prepared) } };
    },
  };
}

/** Replaces names of tables and functions in an example by those of a kind, except names in other sources. */
function withNames(json: Json, named: (name: string) => Json): Json {
  if (isJsonArray(json)) return json.map((item) => withNames(item, named));
  if (!isJsonObject(json) || 'relationship_type' in json) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const name = NAMES.has(key) ? (isJsonObject(value) && 'schema' in value ? value['name'] : value) : null;
      if (typeof name === 'string') return [key, named(name)];
      if (key === 'tables' && isJsonArray(value))
        return [key, value.map((item) => (typeof item === 'string' ? named(item) : withNames(item, named)))];
      return [key, withNames(value, named)];
    }),
  );
}

const NAMES: ReadonlySet<string> = new Set(['table', 'remote_table', 'function']);

export const everyKind = (): boolean => true;

/**
 * An administration operation is one entry: its name, the codec of its arguments, and what it
 * does. `edit` is pure (metadata in, metadata out) and runs inside `State.change`; `run` is for
 * everything with another effect or with an answer of its own. Machinery never knows operations
 * by name.
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
import type { Change, ChangeResult, InconsistencyRule, Refresh, State, Warning } from '../state/state.ts';
import type { Cancellation } from '../util/cancellation.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { Sliced } from '../util/sliced.ts';
import type { OperationAnswer } from './answer.ts';
import type { PollerReport } from '../subscriptions/poller-report.ts';
import { INVALID_ARGUMENTS, type OperationErrors, STALE_VERSION } from './operation-error.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';

/** What the service was composed of; the same for every request. */
export interface Services {
  readonly state: State;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  /** Whether answers of `bulk_keep_going` show the internals of errors. */
  readonly showInternal: boolean;
  readonly catalogState: CatalogStateStore;
  readonly scheduledEvents: ScheduledEvents;
  /** Calls of asynchronous actions. */
  readonly actionLog: Pick<ActionLog, 'clear'>;
  /** That of GraphQL requests: operations on rows go the same way. */
  readonly pipeline: RequestPipeline;
  /** What works for subscriptions at the moment. */
  readonly pollers: () => readonly PollerReport[];
  /** Makes changes of the metadata on a draft, as requests to `/v1/metadata` do. */
  readonly changeDraft: ChangeDraft;
}

/**
 * @param changes operations as elements of a `bulk`, which stand at `path`; those that do more than change the metadata are refused
 * @throws SvcError as the operations do
 */
export type ChangeDraft = (draft: State, changes: readonly Json[], context: OperationContext, path: Path) => Promise<void>;

export interface EditContext {
  /** The state before the change: catalogs, dependencies. Pending edits of a bulk are not in it. */
  readonly snapshot: Snapshot;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  /** Of the arguments: `$.args`, `$.args[2].args` in a bulk. */
  readonly path: Path;
}

export interface OperationContext {
  readonly services: Services;
  readonly session: Session;
  readonly signal?: Cancellation;
  /** How an operation on rows is run; its time begins now. */
  readonly how: RequestOptions;
  readonly path: Path;
  /** After all edits that precede the operation. */
  readonly snapshot: Snapshot;
  /** What the change that held this operation's own `edit` found; undefined without an edit. */
  readonly changed: ChangeResult | undefined;
  /** Applies a change of its own, as `State.change`; a failing bulk takes it back. */
  change(change: Change): Promise<ChangeResult>;
  /** Does what cannot be taken back, once the whole request has been stored; a failure becomes a warning of the answer. */
  afterwards(task: Afterwards): void;
  /** Tells of something in the answer of the whole request that is done although it may not be what was wanted. */
  warn(warning: Warning): void;
}

/** What is done when a change counts. */
export interface Afterwards {
  run(): Promise<void>;
  /** What is told of a failure, beside its reason. */
  readonly warning: Warning;
}

/** How operations that take an object away are refused. */
export const BROKEN_BY_DROP = 'cannot continue due to newly found inconsistent metadata';

export interface Documentation {
  /** One sentence. */
  readonly summary: string;
  /** Paragraphs in Markdown, for what a sentence cannot say. */
  readonly details?: string;
  /** Arguments of an example. */
  readonly example: Json;
}

export interface OperationDefinition<A> {
  /** Of the argument structure, where an operation exists in two. */
  readonly version?: 2;
  readonly args: Codec<A>;
  /** `metadata`: bumps the version; `database`: acts on a source; `nothing`: only reads. */
  readonly changes: 'metadata' | 'database' | 'nothing';
  /** Why it is refused, but for arguments of a wrong form and stale versions, which every operation has. */
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** What `edit` would spend long on, done before it while others go on. Throws nothing: `edit` finds what is wrong. */
  prepareEdit?(args: A, context: EditContext): Sliced<void>;
  /** @throws SvcError to refuse; without a path the error is placed at the arguments */
  edit?(metadata: Metadata, args: A, context: EditContext): Metadata;
  /** What the change reads anew before it is checked. */
  refresh?(args: A): Refresh;
  /** Ids of the objects that the operation is about: their own inconsistency is the client's fault. */
  edited?(args: A): readonly string[];
  inconsistencies?(args: A): InconsistencyRule;
  /** Warnings that follow from the arguments alone. */
  warnings?(args: A): readonly Warning[];
  /** As `Change.clearsEvents`. */
  readonly clearsEvents?: boolean;
  /** `edit` looks at the snapshot's dependencies, so earlier edits of a bulk must be in it. */
  readonly readsDependencies?: boolean;
  /** The message with which a change is refused that breaks other objects, where that is not the usual one. */
  readonly othersBroke?: string;
  /** Whether `run` may change metadata as well, because of what it does to a database. */
  followsUp?(args: A): boolean;
  /** Whether these arguments leave everything as it is; the default follows from `changes`. */
  readOnly?(args: A): boolean;
  /** Whether a service refuses these arguments whose metadata is read-only; the default follows from `changes`. */
  isGuarded?(args: A): boolean;
  /** Whether these arguments have SQL that is run as it is written; by default they have not. */
  runsSql?(args: A): boolean;
  /** Whether it brings addresses that the service then calls, with values of its environment: sources, servers, handlers. */
  readonly bringsAddresses?: boolean;
  /** Runs after `edit`, if there is one; gives the answer. Without it: `{message: "success"}`. */
  run?(args: A, context: OperationContext): Promise<OperationAnswer>;
}

export interface Operation<A> extends OperationDefinition<A> {
  readonly type: string;
}

/** An operation with its arguments decoded and bound. */
export interface Prepared {
  readonly type: string;
  readonly unprefixed: string | undefined;
  readonly changes: 'metadata' | 'database' | 'nothing';
  readonly prepareEdit: ((context: EditContext) => Sliced<void>) | undefined;
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
  /** The source that is named, where how its names are decoded depends on it. */
  readonly ofSource?: {
    readonly name: string;
    /** Decodes the arguments again, as the backend of the open source does. */
    prepare(backend: Backend): Prepared;
  };
}

/** An operation whose argument type is sealed inside. */
export interface OperationEntry {
  readonly type: string;
  readonly version: 1 | 2;
  /** The name without the prefix of its kind; undefined for operations that have no kind. */
  readonly unprefixed: string | undefined;
  readonly changes: 'metadata' | 'database' | 'nothing';
  /** All of its own. */
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** The keys of its arguments; undefined where they are not an object with keys of their own. */
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

/** Lets the type of the arguments follow from their codec. */
export function define<A>(definition: OperationDefinition<A>): OperationDefinition<A> {
  return definition;
}

export type OperationGroup = (backends: readonly Backend[]) => readonly OperationEntry[];

/**
 * One operation for each backend that `capable` admits, under the prefix of its kind and of every
 * alias: `pg_track_table`, `postgres_track_table`.
 */
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

/** An operation whose arguments are decoded once more when the backend of its source is known. */
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

/** What is a table or a function in an example, as a kind writes it; but not those of other sources. */
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

/** Trial run of a plan: the service runs the migrations in transactions that it rolls back. */
import { isJsonArray, isJsonObject, type JsonObject, objectOf, objectsIn } from '../util/json.ts';
import type { NeededExtension } from '../backend/migration-dialect.ts';
import { type Migration, shownFile } from '../migrations/migration-files.ts';
import { entriesIn, type HistoryEntry } from '../migrations/run-migrations.ts';
import { trialSql } from '../migrations/schema-print.ts';
import { cellOf, emptySource, type ListedSource, migrationsOf } from '../migrations/sources.ts';
import { offsetOf, placeIn } from '../migrations/text-place.ts';
import { failure } from '../project/failure.ts';
import { OLD_SERVICE, ServerError, type ServerClient, type SqlSource } from '../project/server-client.ts';
import { type HeldLock, locksIn } from './locks.ts';

/** Prefix of the version that stands for a needed extension in a trial run, before the name of the extension. */
const EXTENSION = 'extension ';

export interface PlannedStep {
  readonly source: string;
  readonly version: string;
  readonly name: string;
  readonly file: string;
  readonly checksum: string;
  readonly state: 'tried' | 'failed' | 'not tried';
  /** Reason why it failed or was not tried. */
  readonly message?: string;
  /** SQLSTATE of the error. */
  readonly code?: string;
  readonly line?: number;
  readonly column?: number;
  /** Locks on existing tables; present if `state` is `tried`. */
  readonly locks?: readonly HeldLock[];
}

export interface Pending {
  readonly source: ListedSource;
  readonly migration: Migration;
}

export interface PlanOptions {
  /** If false, no SQL is run; otherwise it runs in transactions that are rolled back. */
  readonly tries: boolean;
  /** Timeout of one statement of the trial run. */
  readonly statementTimeoutMs: number;
  /** Timeout for a lock in the trial run. */
  readonly lockTimeoutMs: number;
  /** Timeout of the whole trial run. */
  readonly timeoutMs: number;
  /** Seeds that a deployment runs: `all`, or those that are not in the history. Defaults to none. */
  readonly seeds?: 'all' | 'once';
  /** Makes a plan of which only `hash` is used: no trial run. */
  readonly hashOnly?: boolean;
}

export function reasonNotTried({ source, migration }: Pending): string | undefined {
  if (source.backend?.migrations?.rollback === undefined) return 'its database cannot roll back definitions';
  if (trialSql(source, migration, 'up') !== undefined) return undefined;
  const [foreign] = migrationsOf(source).scan(migration.up ?? '').foreign;
  return foreign === undefined
    ? 'it cannot run in a transaction that is rolled back'
    : `${foreign.what} is for ${foreign.client} only (line ${foreign.line})`;
}

/** SQL that a trial run tries after the migrations of its source. */
export interface TriedSql {
  readonly source: ListedSource;
  readonly version: string;
  readonly sql: string;
}

interface TrialInput {
  readonly tried: readonly Pending[];
  readonly seeds: readonly TriedSql[];
  /** Metadata of the project; `undefined` if inconsistencies and schemas are not compared. */
  readonly document: JsonObject | undefined;
  /** Sources that the service does not have. */
  readonly added: readonly ListedSource[];
  /** Extensions to create before the migrations, by source. */
  readonly extensions: ReadonlyMap<string, NeededExtension>;
}

export async function runTrial(
  server: ServerClient,
  { tried, seeds, document, added, extensions }: TrialInput,
  { statementTimeoutMs, lockTimeoutMs, timeoutMs, hashOnly }: PlanOptions,
  notes: string[],
): Promise<JsonObject> {
  if (hashOnly === true || (tried.length + seeds.length === 0 && document === undefined)) return {};
  // One prelude and one probe serve the databases of all sources.
  const [rollback, ...others] = new Set([...tried, ...seeds].map(({ source }) => migrationsOf(source).rollback));
  if (others.length > 0) throw failure('not-supported', 'one plan cannot try migrations of several database kinds: use --no-try');
  const args: JsonObject = {
    migrations: [
      ...[...extensions].map(([source, { name, sql }]) => ({ source, version: EXTENSION + name, sql })),
      ...tried.map(({ source, migration }) => ({
        source: source.name,
        version: String(migration.version),
        sql: trialSql(source, migration, 'up') ?? '',
      })),
      ...seeds.map(({ source, version, sql }) => ({ source: source.name, version, sql })),
    ],
    ...(document === undefined ? {} : { metadata: document }),
    ...(added.length === 0 ? {} : { add_sources: added.map(asAdded) }),
    ...(rollback === undefined ? {} : { prelude: rollback.prelude({ statementTimeoutMs, lockTimeoutMs }), probe: rollback.probe }),
    timeout_seconds: secondsOf(timeoutMs),
  };
  try {
    const answer = await server.metadata('plan_changes', args);
    return objectOf(answer);
  } catch (thrown) {
    const age = thrown instanceof ServerError ? thrown.problems.find(({ code }) => code === OLD_SERVICE) : undefined;
    if (age === undefined) throw thrown;
    notes.push(`nothing was tried: ${age.message}`);
    return {};
  }
}

function secondsOf(timeoutMs: number): number {
  return Math.max(1, Math.ceil(timeoutMs / 1000));
}

/**
 * Returns a function that runs a query in the database of a source that the service does not have yet, and returns its first cell.
 * @throws ProjectFailure if the database cannot be read
 */
export function cellOfNew(
  server: ServerClient,
  source: ListedSource,
  { timeoutMs }: Pick<PlanOptions, 'timeoutMs'>,
): (sql: string) => Promise<string> {
  return async (sql) => {
    const answer = await server.metadata('plan_changes', {
      add_sources: [asAdded(source)],
      migrations: [{ source: source.name, version: '0', sql: 'select 1' }],
      probe: sql,
      compare: false,
      timeout_seconds: secondsOf(timeoutMs),
    });
    const [result] = isJsonObject(answer) ? objectsIn(answer['migrations']) : [];
    const [row] = isJsonArray(result?.['probed']) ? result['probed'] : [];
    return isJsonArray(row) ? String(row[0]) : '';
  };
}

/** Returns the entry of `add_sources` that opens a source for a trial. */
export function asAdded({ name, kind, entry }: ListedSource): JsonObject {
  return { name, kind, tables: [], ...emptySource(entry) };
}

/**
 * Returns the migration history in the database of a source that the service does not have yet.
 * @throws ProjectFailure if the database cannot be read
 */
export async function readEntriesOfNew(
  server: ServerClient,
  source: ListedSource,
  options: Pick<PlanOptions, 'timeoutMs'>,
): Promise<readonly HistoryEntry[]> {
  const { history, rollback } = migrationsOf(source);
  if (rollback === undefined) return [];
  const cell = cellOfNew(server, source, options);
  return (await cell(history.exists)) === '1' ? entriesIn(await cell(history.entries)) : [];
}

/**
 * Returns the extensions that a deployment creates before pending migrations and seeds, by source.
 * @param pending their SQL
 * @param existing sources of the service
 * @throws ProjectFailure if a database cannot be read
 */
export async function extensionsOf(
  server: ServerClient,
  pending: readonly { readonly source: ListedSource; readonly sql: string }[],
  existing: readonly SqlSource[],
  options: PlanOptions,
): Promise<ReadonlyMap<string, NeededExtension>> {
  const found = new Map<string, NeededExtension>();
  for (const source of new Set(pending.map((each) => each.source))) {
    const texts = pending.filter((each) => each.source.name === source.name).map(({ sql }) => sql);
    const exists = existing.some(({ name }) => name === source.name);
    const cell = exists ? cellOf(server, source) : cellOfNew(server, source, options);
    const needed = await source.backend?.migrations?.neededExtension?.(source.entry, texts, cell);
    if (needed !== undefined) found.set(source.name, needed);
  }
  return found;
}

const SQL_STATE = /^[0-9A-Z]{5}$/;

export function stepOf({ source, migration }: Pending, untried: string | undefined, trial: JsonObject): PlannedStep {
  const version = String(migration.version);
  const common = { source: source.name, version, name: migration.name, file: shownFile(migration, 'up'), checksum: migration.checksum };
  if (untried !== undefined) return { ...common, state: 'not tried', message: untried };
  const results = objectsIn(trial['migrations']);
  const at = results.findIndex((each) => each['source'] === source.name && each['version'] === version);
  const result = results[at];
  const extension = results.find((each) => each['source'] === source.name && String(each['version']).startsWith(EXTENSION));
  if (extension?.['ok'] === false)
    return {
      ...common,
      state: 'failed',
      message: `${String(extension['version']).slice(EXTENSION.length)} cannot be created: ${String(extension['message'])}`,
    };
  if (result === undefined)
    return { ...common, state: 'not tried', message: trial['migrations'] === undefined ? 'nothing was tried' : 'an earlier one failed' };
  if (result['ok'] === true) {
    const earlier = results.slice(0, at).filter((each) => each['source'] === source.name);
    return { ...common, state: 'tried', locks: locksIn(result['probed'], earlier.at(-1)?.['probed']) };
  }
  const position = result['position'];
  const up = migration.up ?? '';
  const place = typeof position === 'number' ? placeIn(up, offsetOf(up, position)) : {};
  const code = String(result['code']);
  return { ...common, state: 'failed', message: String(result['message']), ...(SQL_STATE.test(code) ? { code } : {}), ...place };
}

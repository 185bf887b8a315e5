/** Trial runs in a transaction of the source that is rolled back: the database prints its schema before and after each step. */
import { type RollbackDialect, historyRefusalOf } from '../backend/migration-dialect.ts';
import { isJsonArray, isJsonObject, type Json, parseJson } from '../util/json.ts';
import { failure } from '../project/failure.ts';
import { ServerError, type ServerClient } from '../project/server-client.ts';
import type { Migration } from './migration-files.ts';
import { type ListedSource, migrationsOf } from './sources.ts';

/** Lines of a schema that only the later (`left`) or only the earlier state (`lost`) has. */
export interface Difference {
  readonly left: readonly string[];
  readonly lost: readonly string[];
}

export interface UpDownUpResult {
  /** `undefined` if down undoes up. */
  readonly differences: Difference | undefined;
  /** Difference between the schemas after the first and the second up; `undefined` if there is none. */
  readonly second: Difference | undefined;
}

/** Maximum number of lines of a difference, in each direction. */
const MAX_LINES = 20;

/** Returns `undefined` if both are the same. */
export function differenceBetween(before: readonly string[], after: readonly string[]): Difference | undefined {
  const [one, other] = [new Set(before), new Set(after)];
  return differenceOf({ left: after.filter((line) => !one.has(line)), lost: before.filter((line) => !other.has(line)) });
}

function differenceOf({ left, lost }: { readonly left: Json; readonly lost: Json }): Difference | undefined {
  const [more, less] = [linesIn(left).slice(0, MAX_LINES), linesIn(lost).slice(0, MAX_LINES)];
  return more.length + less.length === 0 ? undefined : { left: more, lost: less };
}

function linesIn(json: Json | undefined): readonly string[] {
  return isJsonArray(json) ? json.map(String) : [];
}

/** Returns the SQL of a migration for a transaction that is rolled back; `undefined` if it cannot run in one. */
export function trialSql(source: ListedSource, migration: Migration, direction: 'up' | 'down'): string | undefined {
  const sql = migration[direction] ?? (direction === 'up' ? '' : undefined);
  if (sql === undefined || (direction === 'up' && migration.withoutTransaction)) return undefined;
  const { outside, foreign, control, unwrapped } = migrationsOf(source).scan(sql);
  if (outside.length > 0 || foreign.length > 0) return undefined;
  return control.length === 0 ? sql : unwrapped;
}

/**
 * Runs up, down and up again, and compares the schema after each.
 * @param before SQL of earlier migrations, which runs first
 * @throws ProjectFailure if one of them fails
 */
export async function verifyMigration(
  server: ServerClient,
  source: ListedSource,
  before: string,
  up: string,
  down: string,
): Promise<UpDownUpResult> {
  const result = await rolledBack(server, source, (rollback) => rollback.upDownUp(before, up, down, MAX_LINES));
  const [differences, second] = (isJsonArray(result) ? result : []).map((each) =>
    isJsonObject(each) ? differenceOf({ left: each['left'] ?? [], lost: each['lost'] ?? [] }) : undefined,
  );
  return { differences, second };
}

/** Returns the lines of the schema after the SQL. @throws ProjectFailure if it fails */
export async function schemaAfter(server: ServerClient, source: ListedSource, sql: string): Promise<readonly string[]> {
  return linesIn(await rolledBack(server, source, (rollback) => rollback.linesAfter(sql)));
}

/** Runs SQL that always fails, and returns the result from its message. */
async function rolledBack(server: ServerClient, source: ListedSource, sqlOf: (rollback: RollbackDialect) => string): Promise<Json> {
  const { rollback } = migrationsOf(source);
  if (rollback === undefined) throw failure('not-supported', `definitions of the source ${source.name} cannot be rolled back`);
  try {
    await server.sql(source, sqlOf(rollback), { check_metadata_consistency: false });
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    const message = thrown.databaseError?.message ?? '';
    if (historyRefusalOf(message) === 'locked')
      throw failure('locked', `another run is migrating the source ${source.name}: try again later`);
    if (!message.startsWith(rollback.marker)) throw failure(thrown.code, message === '' ? thrown.message : message);
    return parseJson(message.slice(rollback.marker.length));
  }
  throw failure('unexpected', 'the transaction of the trial was not rolled back');
}

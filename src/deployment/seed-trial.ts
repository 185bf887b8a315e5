/** Seeds in a plan: those that a deployment runs are tried after the migrations of their source, in the same transaction. */
import { type JsonObject, objectsIn } from '../util/json.ts';
import { readSeedEntries } from '../migrations/run-migrations.ts';
import { joinedSql, type Seed, type SourceSeeds, unusableIn } from '../migrations/seeds.ts';
import { cellOf, type ListedSource } from '../migrations/sources.ts';
import { offsetOf, placeIn } from '../migrations/text-place.ts';
import type { Problem } from '../project/failure.ts';
import type { ServerClient } from '../project/server-client.ts';
import { cellOfNew, type PlanOptions, type TriedSql } from './trial.ts';

/** Prefix of the version that stands for a seed in a trial run, before its name. */
const SEED = 'seed ';

export interface PendingSeed {
  readonly source: ListedSource;
  readonly seed: Seed;
  /** Reasons why it cannot run. */
  readonly problems: readonly Problem[];
}

export interface PlannedSeed {
  readonly source: string;
  readonly name: string;
  readonly state: 'tried' | 'failed' | 'not tried';
  /** Reason why it was not tried. */
  readonly message?: string;
  /** Reasons why it failed. */
  readonly problems: readonly Problem[];
}

/**
 * Returns the seeds that a deployment runs.
 * @param once whether it skips those in the history
 * @param kept sources whose connections do not change
 * @throws ProjectFailure
 */
export async function pendingSeeds(
  server: ServerClient,
  all: readonly SourceSeeds[],
  { once, kept, timeoutMs }: { readonly once: boolean; readonly kept: readonly ListedSource[] } & Pick<PlanOptions, 'timeoutMs'>,
): Promise<readonly PendingSeed[]> {
  const pending: PendingSeed[] = [];
  for (const { source, seeds } of all) {
    const isKept = kept.some(({ name }) => name === source.name);
    const canRead = isKept || source.backend?.migrations?.rollback !== undefined;
    const cell = isKept ? cellOf(server, source) : cellOfNew(server, source, { timeoutMs });
    const done = once && canRead ? await readSeedEntries(cell, source) : new Map<string, string>();
    pending.push(...seeds.filter(({ name }) => !done.has(name)).map((seed) => ({ source, seed, problems: unusableIn(source, seed) })));
  }
  return pending;
}

/** Returns the SQL of the seeds to try: all of a source, or none. */
export function triedSeeds(pending: readonly PendingSeed[], reasonFor: (source: ListedSource) => string | undefined): readonly TriedSql[] {
  return pending
    .filter(({ source }) => reasonFor(source) === undefined)
    .map(({ source, seed }) => ({ source, version: SEED + seed.name, sql: joinedSql(source, seed) }));
}

/** @param trial result of the trial run */
export function plannedSeed(
  { source, seed, problems }: PendingSeed,
  reasonFor: (source: ListedSource) => string | undefined,
  trial: JsonObject,
): PlannedSeed {
  const common = { source: source.name, name: seed.name, problems: [] };
  if (problems.length > 0) return { ...common, state: 'failed', problems };
  const reason = reasonFor(source);
  if (reason !== undefined) return { ...common, state: 'not tried', message: reason };
  const result = objectsIn(trial['migrations']).find((each) => each['source'] === source.name && each['version'] === SEED + seed.name);
  if (result === undefined) return { ...common, state: 'not tried', message: 'an earlier step failed' };
  if (result['ok'] === true) return { ...common, state: 'tried' };
  const position = result['position'];
  const sql = joinedSql(source, seed);
  const place = typeof position === 'number' ? placeIn(sql, offsetOf(sql, position)) : {};
  return { ...common, state: 'failed', problems: [{ code: 'seed', message: String(result['message']), file: seed.shown, ...place }] };
}

/** The sources of a deployment, and the migrations that are applied in them. */
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { type PlanRules, readPermitted, rejectedConnection, skippedSource, sourcesWithMigrations } from '../migrations/plan-sources.ts';
import { type HistoryEntry, type MigrationGoal, type MigrationOptions, readEntriesWhenIdle } from '../migrations/run-migrations.ts';
import { cellOf, type ListedSource, movedSources, sourcesOf } from '../migrations/sources.ts';
import { EXIT, type Problem } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import { type ServerClient, ServerError } from '../project/server-client.ts';
import type { JsonObject } from '../util/json.ts';
import { cellOfNew, readEntriesOfNew } from './trial.ts';

export interface DeployRules {
  readonly allowChanged: boolean;
  readonly allowInconsistent: boolean;
  readonly run: MigrationOptions;
}

/** Sources of a project beside those of its service. */
export interface ComparedSources {
  /** All sources of the project. */
  readonly all: readonly ListedSource[];
  /** Sources of the project that the service does not have. */
  readonly added: readonly ListedSource[];
  /** Sources of the project that the service has with another configuration, and so maybe with another database. */
  readonly moved: readonly ListedSource[];
  /** Sources of the service without those of `moved`. */
  readonly kept: readonly ListedSource[];
  /** Sources of the project with migrations. */
  readonly migrated: readonly ListedSource[];
  /** Folders of migrations without a source. */
  readonly problems: readonly Problem[];
}

/** @param current metadata of the service */
export function compareSources(project: Project, document: JsonObject, current: JsonObject, kinds: Kinds<Backend>): ComparedSources {
  const all = sourcesOf(document, kinds);
  const existing = sourcesOf(current, kinds);
  const moved = movedSources(document, current, kinds);
  const isIn = (list: readonly ListedSource[], { name }: ListedSource): boolean => list.some((each) => each.name === name);
  return {
    all,
    added: all.filter((source) => !isIn(existing, source)),
    moved,
    kept: existing.filter((source) => !isIn(moved, source)),
    ...sourcesWithMigrations(project, all, kinds),
  };
}

export interface SourceHistory {
  readonly source: ListedSource;
  readonly entries: readonly HistoryEntry[];
  /** Runs a query in the database, and returns its first cell. */
  readonly cell: (sql: string) => Promise<string>;
}

/** Migration histories by the name of their source. */
export type SourceHistories = ReadonlyMap<string, SourceHistory>;

interface HistoryOptions extends Pick<DeployRules, 'allowInconsistent' | 'run'> {
  /** Timeout for each new or moved source, in ms. */
  readonly timeoutMs: number;
  /** Called for each source that is left out. */
  readonly warn: (message: string) => void;
}

/**
 * Reads the migration histories of all sources with migrations. Those of new and of moved sources are read in the databases that the
 * project names, without changing the service. With `allowInconsistent`, a source whose database does not respond is left out.
 * @throws ProjectFailure
 */
export async function readHistories(
  server: ServerClient,
  { migrated, kept, moved }: Pick<ComparedSources, 'migrated' | 'kept' | 'moved'>,
  { allowInconsistent, run, timeoutMs, warn }: HistoryOptions,
): Promise<SourceHistories> {
  const found = new Map<string, SourceHistory>();
  for (const source of migrated) {
    const known = kept.find(({ name }) => name === source.name);
    const isMoved = moved.some(({ name }) => name === source.name);
    const cell = known === undefined ? cellOfNew(server, source, { timeoutMs }) : cellOf(server, known);
    try {
      const entries = await readPermitted(source, cell, () =>
        known === undefined ? readEntriesOfNew(server, source, { timeoutMs }) : readEntriesWhenIdle(server, known, run),
      );
      found.set(source.name, { source: known ?? source, entries, cell });
    } catch (thrown) {
      if (!(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) throw thrown;
      // A deployment skips sources whose databases do not respond, but rejects a changed connection.
      if (allowInconsistent && !isMoved) warn(skippedSource(source, thrown));
      else throw known === undefined ? rejectedConnection(source, thrown, isMoved ? 'changed' : 'new') : thrown;
    }
  }
  return found;
}

export const ALL_PENDING: MigrationGoal = { kind: 'up', count: 'all' };

export function sourcesOfHistories(histories: SourceHistories): readonly ListedSource[] {
  return [...histories.values()].map(({ source }) => source);
}

export function migrationRules({ allowChanged, run }: DeployRules, histories: SourceHistories): PlanRules {
  return {
    allowChanged,
    strictOrder: false,
    options: run,
    history: async ({ name }) => histories.get(name)?.entries ?? [],
    cell: ({ name }) => histories.get(name)?.cell ?? (async () => ''),
  };
}

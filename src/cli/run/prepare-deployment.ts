/** Everything that a deployment reads and checks before its first step. Changes nothing. */
import { join } from 'node:path';
import type { Backend } from '../../backend/backend.ts';
import {
  ALL_PENDING,
  type ComparedSources,
  compareSources,
  migrationRules,
  readHistories,
  type SourceHistories,
  sourcesOfHistories,
} from '../../deployment/source-histories.ts';
import { checksVariables, unsetVariables } from '../../deployment/metadata-check.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { readMigrations } from '../../migrations/migration-files.ts';
import { planAll, type PlannedSource } from '../../migrations/plan-sources.ts';
import type { MigrationOptions } from '../../migrations/run-migrations.ts';
import { seedsOf, type SourceSeeds } from '../../migrations/seeds.ts';
import type { ListedSource } from '../../migrations/sources.ts';
import { type ReadMetadata, readMetadata } from '../../project/directory/read-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, ProjectFailure } from '../../project/failure.ts';
import { type Applied, exportFrom } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';

export interface Deployment {
  readonly project: Project;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  readonly options: MigrationOptions;
  readonly withSeeds: boolean;
  readonly once: boolean;
  readonly allowInconsistent: boolean;
  readonly allowChanged: boolean;
  /** Does nothing if a migration is applied that is newer than all migrations of the project. */
  readonly unlessNewer?: boolean;
  readonly progress: (message: string) => void;
  readonly warn: (message: string) => void;
  /** Replaces the step that applies the metadata; `svc dev` also writes files in it. */
  readonly apply?: () => Promise<Applied>;
}

export interface PreparedDeployment {
  readonly read: ReadMetadata;
  readonly sources: ComparedSources;
  readonly planned: readonly PlannedSource[];
  readonly seeds: readonly SourceSeeds[];
}

/** Timeout for reading the histories of new and moved sources, in ms. */
const HISTORY_TIMEOUT_MS = 300_000;

/** @returns the reason why nothing is to be deployed, if there is one @throws ProjectFailure if the deployment would fail */
export async function prepareDeployment(at: Deployment): Promise<PreparedDeployment | { readonly newer: string }> {
  const { project, server, kinds, options: run, allowChanged, allowInconsistent } = at;
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  const sources = compareSources(project, read.document, (await exportFrom(server)).metadata, kinds);
  if (sources.problems.length > 0) throw new ProjectFailure(sources.problems);
  const histories = await readHistories(server, sources, { allowInconsistent, run, timeoutMs: HISTORY_TIMEOUT_MS, warn: at.warn });
  const newer = at.unlessNewer === true ? newerThan(at, histories) : undefined;
  if (newer !== undefined) return { newer };
  const rules = migrationRules({ allowChanged, allowInconsistent, run }, histories);
  const planned = await planAll(project, sourcesOfHistories(histories), ALL_PENDING, rules);
  const runsSql = planned.some(({ steps }) => steps.length > 0);
  if (!allowInconsistent && checksVariables(read.document, runsSql)) await requireVariables(at, read, [...sources.added, ...sources.moved]);
  return { read, sources, planned, seeds: at.withSeeds ? seedsOf(project, sources.all) : [] };
}

/**
 * Checks variables before the first step, because no step sets them.
 * @throws ProjectFailure if the metadata needs variables that the service does not have
 */
async function requireVariables({ server }: Deployment, read: ReadMetadata, opened: readonly ListedSource[]): Promise<void> {
  const problems = await unsetVariables(server, read, opened);
  if (problems.length > 0) throw new ProjectFailure([...problems, { code: 'deploy', message: 'nothing was done' }], EXIT.inconsistent);
}

/** Returns why the project is older than the deployed state, or `undefined`. */
function newerThan({ project }: Deployment, histories: SourceHistories): string | undefined {
  for (const [name, { entries }] of histories) {
    const own = readMigrations(project.files, join(project.migrationsFolder, name)).at(-1)?.version ?? 0n;
    const newer = entries.filter(({ version }) => version > own);
    if (newer.length > 0)
      return `migration ${newer.at(-1)?.version} of ${name} is applied, and the newest of the project is ${own}: the project is older than the service`;
  }
  return undefined;
}

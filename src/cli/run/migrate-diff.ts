/** `svc migrate create --from-diff` */
import type { MigrationDialect, SchemaDiff } from '../../backend/migration-dialect.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import type { KnownMigration } from '../../migrations/run-migrations.ts';
import { dumpContext } from '../../migrations/seeds.ts';
import { type ListedSource, serverSources } from '../../migrations/sources.ts';
import { type CommandContext, flagOption, textOption } from '../context.ts';
import { inScratch } from './in-scratch.ts';
import { knownMigrations } from './migrate.ts';

/** SQL of a migration that is created. */
export interface NewMigration {
  readonly up: string;
  readonly down: string;
  /** `applied` if the source has the changes already, `incomplete` if it has them and `up` leaves some out. */
  readonly state: 'pending' | 'applied' | 'incomplete';
}

const OPTIONS = { scratch: '--scratch', fromSource: '--from-source', toSource: '--to-source' } as const;

/** @throws ProjectFailure for options that have no meaning together */
export function requireDiffOptions(context: CommandContext): void {
  const given = Object.entries(OPTIONS).filter(([name]) => textOption(context, name) !== undefined);
  const [first] = given;
  if (!flagOption(context, 'fromDiff')) {
    if (first !== undefined) throw failure('usage', `${first[1]} needs --from-diff`, {}, EXIT.usage);
    return;
  }
  if (textOption(context, 'schema') !== undefined) throw failure('usage', '--schema needs --from-server', {}, EXIT.usage);
  const [scratch, from] = [textOption(context, 'scratch'), textOption(context, 'fromSource')];
  if (scratch !== undefined && from !== undefined)
    throw failure('usage', '--scratch and --from-source exclude each other: the difference starts from one of them', {}, EXIT.usage);
  if (scratch === undefined && from === undefined)
    throw failure(
      'usage',
      '--from-diff needs --scratch, a source with an empty database in which the migrations so far are run, or --from-source, a source to compare with',
      {},
      EXIT.usage,
    );
}

/**
 * Returns the difference between two databases.
 * @param name source of the new migration
 * @returns `undefined` if there is nothing to write
 * @throws ProjectFailure
 */
export async function diffed(context: CommandContext, name: string): Promise<NewMigration | undefined> {
  const sources = await serverSources(await context.server(), await context.kinds());
  const find = (sought: string): ListedSource => {
    const found = sources.find((source) => source.name === sought);
    if (found === undefined) throw failure('no-source', `the service has no source "${sought}"`);
    return found;
  };
  const [own, to] = [find(name), find(textOption(context, 'toSource') ?? name)];
  const [scratch, from] = [textOption(context, 'scratch'), textOption(context, 'fromSource')];
  const start = find(scratch ?? (from as string));
  const compare = comparison(start, to);
  const server = await context.server();
  const difference = (source: ListedSource): Promise<SchemaDiff> => compare(dumpContext(server, source), dumpContext(server, to));
  const { up, down } =
    scratch === undefined ? await difference(start) : await differenceToMigrations(context, { scratch, own, to }, difference);
  for (const each of up.omitted) context.warn(up.sql === '' ? each : `up.sql: ${each}`);
  if (up.sql === '') return undefined;
  for (const each of down.omitted.filter((omitted) => /^not done: (?!up\.sql)/.test(omitted))) context.warn(`down.sql: ${each}`);
  const isReached = to.name === own.name;
  return { up: up.sql, down: down.sql, state: !isReached ? 'pending' : up.omitted.length === 0 ? 'applied' : 'incomplete' };
}

/** Returns the function of the kind that compares the sources. @throws ProjectFailure */
function comparison(from: ListedSource, to: ListedSource): NonNullable<MigrationDialect['diffSchemas']> {
  if (from.name === to.name)
    throw failure('usage', `--from-diff compares the source ${to.name} with itself: name another source`, {}, EXIT.usage);
  if (from.kind !== to.kind)
    throw failure(
      'not-supported',
      `the source ${from.name} has the kind "${from.kind}" and ${to.name} has "${to.kind}": --from-diff compares sources of the same kind`,
    );
  const compare = to.backend?.migrations?.diffSchemas;
  if (compare === undefined) throw failure('not-supported', `--from-diff does not support sources of the kind "${to.kind}"`);
  return compare;
}

/** Runs all migrations in the scratch database, and compares the result. @throws ProjectFailure */
async function differenceToMigrations(
  context: CommandContext,
  { scratch, own, to }: { readonly scratch: string; readonly own: ListedSource; readonly to: ListedSource },
  difference: (source: ListedSource) => Promise<SchemaDiff>,
): Promise<SchemaDiff> {
  const all = await knownMigrations(await context.project(), await context.server(), own);
  if (to.name === own.name) requireApplied(context, own, all);
  return inScratch(context, scratch, own, async (trial) => {
    for (const known of all) {
      if (known.migration === undefined || known.migration.up === null) continue;
      try {
        await trial.run(known, 'up');
      } catch (thrown) {
        if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
        throw failure('migration', `the migration ${known.version} ${known.name} fails in an empty database: ${thrown.message}`);
      }
    }
    return difference(trial.source);
  });
}

/** Rejects pending migrations: the difference would revert them. @throws ProjectFailure */
function requireApplied(context: CommandContext, { name }: ListedSource, all: readonly KnownMigration[]): void {
  for (const { version, status } of all) {
    if (status === 'pending' || status === 'dirty')
      throw failure(
        'migration',
        `the migration ${version} is ${status} in ${name}, so the difference would revert it: run svc migrate apply before`,
      );
    if (status !== 'applied') context.warn(`the migration ${version} of ${name} is ${status}: its changes may be a part of the difference`);
  }
}

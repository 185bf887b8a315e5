/** `svc migrate squash` */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyChanges } from '../../project/directory/files.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { checksumOf, type Migration, readMigrations } from '../../migrations/migration-files.ts';
import { type KnownMigration, mirrorState, readEntries, writeHistory } from '../../migrations/run-migrations.ts';
import { type Difference, differenceBetween, schemaAfter } from '../../migrations/schema-print.ts';
import { chosenSources, type ListedSource, migrationsOf, oneFolder } from '../../migrations/sources.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { fileName } from './migrate-files.ts';
import { inScratch, type Trial } from './in-scratch.ts';
import { knownMigrations } from './migrate.ts';
import { versionOption } from './run-options.ts';

const NO_TRANSACTION = '-- svc: no-transaction\n';

export async function runMigrateSquash(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const name = oneFolder(project, project.migrationsFolder, textOption(context, 'databaseName'), []);
  const [source] = await chosenSources(project, server, await context.kinds(), project.migrationsFolder, name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const all = await knownMigrations(project, server, source);
  const range = rangeOf(context, all);
  const chosen = chosenMigrations(all, range);
  const isApplied = chosen.every(({ status }) => status === 'applied');
  const migrations = chosen.map(({ migration }) => migration as Migration);
  const { history, rollback } = migrationsOf(source);
  const joined = joinedSql(context, source, migrations);
  const { up, down } = joined;
  const scratch = textOption(context, 'scratch');
  if (scratch !== undefined) {
    const before = all.filter(({ version, migration }) => version < range.from && migration !== undefined);
    await inScratch(context, scratch, source, (trial) => compareInScratch(context, trial, { before, chosen, up, down }));
  } else if (!isApplied && !joined.isAlone && rollback !== undefined) {
    const earlier = all
      .filter(({ status, version }) => status === 'pending' && version < range.from)
      .map(({ migration }) => migration?.up ?? '');
    await requireSameSchema(server, source, [...earlier, ...migrations.map((each) => each.up ?? '')], [...earlier, up]);
  } else
    context.progress('the schema of the new migration is not verified; to verify it, name a source with an empty database with --scratch');
  const keep = migrations.at(-1) as Migration;
  const parent = join(project.migrationsFolder, source.name);
  const folder = join(parent, `${keep.version}_${fileName(textOption(context, 'name') ?? 'squashed')}`);
  if (!(await context.confirm(`This merges ${migrations.length} migrations into ${project.files.show(folder)}.`)))
    throw failure('not-confirmed', 'nothing was squashed');
  const aside = flagOption(context, 'deleteSource') ? null : join(parent, `squashed_${range.from}_to_${range.to}`);
  replaceFolders(project, migrations, { folder, aside, up, down });
  if (isApplied) {
    const [squashed] = readMigrations(project.files, parent).filter(({ version }) => version === keep.version);
    if (squashed === undefined) throw failure('unexpected', 'the new migration cannot be read');
    const forget = migrations.map(({ version }) => history.remove(version)).join('');
    const entry = { version: keep.version, name: squashed.name, checksum: squashed.checksum, down: squashed.down };
    await writeHistory(server, source, forget + history.insert(entry, { dirty: false }));
    await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
  }
  return {
    text: `${project.files.show(folder)} contains ${counted(migrations.length, 'migration')}`,
    data: { folder: project.files.show(folder), squashed: migrations.map(({ version }) => String(version)) },
  };
}

interface VersionRange {
  readonly from: bigint;
  readonly to: bigint;
}

function rangeOf(context: CommandContext, all: readonly KnownMigration[]): VersionRange {
  const from = versionOption(textOption(context, 'from') as string, '--from');
  const last = textOption(context, 'to');
  const to = last === undefined ? (all.findLast(({ migration }) => migration !== undefined)?.version ?? from) : versionOption(last, '--to');
  return { from, to };
}

/** @throws ProjectFailure if they cannot be squashed */
function chosenMigrations(all: readonly KnownMigration[], { from, to }: VersionRange): readonly KnownMigration[] {
  const chosen = all.filter(({ version }) => version >= from && version <= to);
  if (chosen.length < 2) throw failure('migration', `there are fewer than two migrations from ${from} to ${to}`);
  const wrong = chosen.filter(({ status }) => status !== 'applied' && status !== 'pending');
  if (wrong.length > 0)
    throw failure(
      'migration',
      `${wrong.map(({ version, status }) => `${version} is ${status}`).join(', ')}: only applied and pending migrations can be squashed`,
    );
  const applied = chosen.filter(({ status }) => status === 'applied');
  if (applied.length > 0 && applied.length < chosen.length)
    throw failure('migration', `some migrations from ${from} to ${to} are applied and some are not: apply all of them, or none`);
  return chosen;
}

interface JoinedSql {
  readonly up: string;
  readonly down: string;
  /** True if the up migration runs without a transaction. */
  readonly isAlone: boolean;
}

/** Joins the SQL of migrations, and warns about parts that work differently then. */
function joinedSql(context: CommandContext, source: ListedSource, migrations: readonly Migration[]): JoinedSql {
  const { scan } = migrationsOf(source);
  const alone = migrations.filter((each) => each.withoutTransaction || scan(each.up ?? '').control.length > 0);
  for (const { shown } of alone) context.warn(`${shown} cannot share a transaction: the new migration runs without one`);
  const without = migrations.filter(({ down }) => down === null);
  for (const { shown } of without) context.warn(`${shown} has no down.sql: reverting the new migration does not revert this part`);
  const part = (each: Migration, sql: string): string => {
    const last = scan(sql).statements.at(-1);
    const isEnded = last === undefined || /^\s*;/.test(sql.slice(last.at + last.text.length));
    return `-- ${each.version}_${each.name}\n${sql.trimEnd()}\n${isEnded ? '' : ';\n'}`;
  };
  const up = (alone.length > 0 ? NO_TRANSACTION : '') + migrations.map((each) => part(each, each.up ?? '')).join('\n');
  const isDownAlone = migrations.some(({ down: sql }) => {
    const scanned = scan(sql ?? '');
    return scanned.outside.length + scanned.control.length > 0;
  });
  const downs = [...migrations]
    .reverse()
    .map((each) => (each.down === null ? '' : part(each, each.down)))
    .join('\n');
  const down = downs.trim() !== '' && isDownAlone ? NO_TRANSACTION + downs : downs;
  return { up, down, isAlone: alone.length > 0 };
}

interface NewFolder {
  readonly folder: string;
  /** Folder for the old migrations; `null`: they are deleted. */
  readonly aside: string | null;
  readonly up: string;
  readonly down: string;
}

/** The new folder is written first: an interrupted run leaves two folders of one version, which other commands report. */
function replaceFolders({ files }: Project, migrations: readonly Migration[], { folder, aside, up, down }: NewFolder): void {
  const drafted = `${folder}.new`;
  applyChanges(
    files,
    new Map([
      [join(drafted, 'up.sql'), up],
      [join(drafted, 'down.sql'), down],
    ]),
  );
  if (aside !== null) mkdirSync(aside, { recursive: true });
  for (const each of migrations) {
    if (aside === null) rmSync(each.folder, { recursive: true });
    else renameSync(each.folder, join(aside, `${each.version}_${each.name}`));
  }
  renameSync(drafted, folder);
}

/** @throws ProjectFailure if the two lists of SQL produce different schemas */
async function requireSameSchema(
  server: ServerClient,
  source: ListedSource,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const [one, other] = [await schemaAfter(server, source, before.join('\n;\n')), await schemaAfter(server, source, after.join('\n;\n'))];
  requireSame(differenceBetween(one, other));
}

/** @throws ProjectFailure */
function requireSame(difference: Difference | undefined): void {
  if (difference === undefined) return;
  const shown = [...difference.lost.map((line) => `- ${line}`), ...difference.left.map((line) => `+ ${line}`)].slice(0, 20);
  throw failure('squash', `the new migration would produce another schema: ${shown.join('; ')}`);
}

interface Squashed {
  /** Migrations before those that are squashed. */
  readonly before: readonly KnownMigration[];
  readonly chosen: readonly KnownMigration[];
  /** SQL of the new migration. */
  readonly up: string;
  readonly down: string;
}

/** @throws ProjectFailure if the new migration produces another schema than those that it replaces */
async function compareInScratch(context: CommandContext, trial: Trial, { before, chosen, up, down }: Squashed): Promise<void> {
  const last = chosen.at(-1) as KnownMigration;
  const made = { ...(last.migration as Migration), up, down: down.trim() === '' ? null : down, checksum: checksumOf(up) };
  const squashed: KnownMigration = {
    ...last,
    migration: { ...made, withoutTransaction: (last.migration as Migration).withoutTransaction || up.startsWith(NO_TRANSACTION) },
  };
  const run = async (list: readonly KnownMigration[], direction: 'up' | 'down'): Promise<readonly string[]> => {
    for (const known of list) {
      try {
        await trial.run(known, direction);
      } catch (thrown) {
        if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
        const which = known === squashed ? 'the new migration' : `migration ${known.version} ${known.name}`;
        throw failure('squash', `${which} fails in an empty database: ${thrown.message}`);
      }
    }
    return trial.lines();
  };
  await run(before, 'up');
  const one = await run(chosen, 'up');
  await trial.clear();
  const base = await run(before, 'up');
  requireSame(differenceBetween(one, await run([squashed], 'up')));
  if (chosen.some(({ migration }) => migration?.down === null)) return;
  const undone = differenceBetween(base, await run([squashed], 'down'));
  if (undone !== undefined)
    context.warn(`the down.sql of the new migration does not revert everything: ${[...undone.left, ...undone.lost].join('; ')}`);
}

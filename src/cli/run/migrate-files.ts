/** The commands of `svc migrate` that work on files. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyChanges, readNamedFile } from '../../project/directory/files.ts';
import { readableMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { missingSource } from '../../migrations/missing-sources.ts';
import { readMigrations } from '../../migrations/migration-files.ts';
import { type MigrationOptions, mirrorState, readEntries, runSteps, writeHistory } from '../../migrations/run-migrations.ts';
import { dumpContext } from '../../migrations/seeds.ts';
import {
  chosenSources,
  enumTables,
  migrationsOf,
  oneFolder,
  requireFolderName,
  serverSources,
  sourceNames,
} from '../../migrations/sources.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';
import type { Backend } from '../../backend/backend.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { knownMigrations } from './migrate.ts';
import { diffed, type NewMigration, requireDiffOptions } from './migrate-diff.ts';
import { runOptions, versionOption } from './run-options.ts';

/** Names of the sources in the metadata of the project; `undefined` if it cannot be read. */
export function projectSources(project: Project): readonly string[] | undefined {
  const read = readableMetadata(project.metadata);
  return read === null ? undefined : sourceNames(read.document);
}

/** Turns a description into the name of a file or folder. @throws ProjectFailure */
export function fileName(name: string): string {
  if (!isFileName(name)) throw failure('usage', unusableName(name), {}, EXIT.usage);
  return plainName(name);
}

/** Returns whether a description can be turned into the name of a file or folder. */
export function isFileName(name: string): boolean {
  return /^[^.]/.test(plainName(name));
}

export function unusableName(name: string): string {
  return `"${name}" cannot be used as a name`;
}

function plainName(name: string): string {
  return name
    .trim()
    .replace(/[^\p{L}\p{N}_.-]+/gu, '_')
    .slice(0, 150);
}

/** `svc migrate create` */
export async function runMigrateCreate(context: CommandContext): Promise<CommandOutcome> {
  const project = await context.project();
  const named = context.args[0] as string;
  const sources = projectSources(project);
  // Sources that the migration is compared with have none of their own in most projects.
  const compared = ['scratch', 'fromSource', 'toSource'].map((name) => textOption(context, name));
  const own = (sources ?? []).filter((name) => !compared.includes(name));
  const source = oneFolder(project, project.migrationsFolder, textOption(context, 'databaseName'), own);
  if (sources !== undefined && !sources.includes(source)) {
    const { cause, remedy } = missingSource(project, source, await context.kinds());
    context.warn(`${cause}: ${remedy}`);
  }
  const hasOthers = readMigrations(project.files, join(project.migrationsFolder, source)).length > 0;
  const content = await contentOf(context, source, hasOthers);
  if (content === undefined)
    return { text: 'nothing that --from-diff compares differs: no migration was created', data: { source, folder: null } };
  const { version, folder } = writeMigration(project, source, named, content);
  if (content.state === 'applied') {
    const at = { project, server: await context.server(), kinds: await context.kinds(), options: runOptions(context) };
    await markApplied(at, source, version);
  }
  if (content.state === 'incomplete')
    context.warn(
      `${source} has these changes already, but up.sql leaves some out: complete it, then mark it as applied with svc migrate apply --version ${version} --skip-execution --database-name ${source}`,
    );
  return { text: folder, data: { version: String(version), source, folder } };
}

/** Writes a migration that follows all others, or with `ranAt` those that ran before it. @returns its folder as users see it @throws ProjectFailure for an unusable name */
export function writeMigration(
  project: Project,
  source: string,
  named: string,
  { up, down, ranAt }: Pick<NewMigration, 'up' | 'down'> & { readonly ranAt?: number },
): { readonly version: bigint; readonly folder: string } {
  const version = newVersion(
    readMigrations(project.files, join(project.migrationsFolder, source)).map((each) => each.version),
    ranAt,
  );
  const folder = join(project.migrationsFolder, requireFolderName(source), `${version}_${fileName(named)}`);
  const withEnd = (sql: string): string => (sql === '' || sql.endsWith('\n') ? sql : `${sql}\n`);
  const changes = new Map<string, string | null>([
    [join(folder, 'up.sql'), withEnd(up)],
    [join(folder, 'down.sql'), withEnd(down)],
  ]);
  applyChanges(project.files, changes);
  return { version, folder: project.files.show(folder) };
}

/** @param ranAt time at which the SQL has run; without it, the new migration is the last one even if the clock is behind */
function newVersion(existing: readonly bigint[], ranAt?: number): bigint {
  const last = existing.at(-1) ?? 0n;
  let version = BigInt(ranAt ?? Date.now());
  if (ranAt === undefined) return version > last ? version : last + 1n;
  while (existing.includes(version)) version += 1n;
  return version;
}

/** Returns the SQL of a new migration. `undefined` if `--from-diff` finds nothing to write. @throws ProjectFailure */
async function contentOf(context: CommandContext, source: string, hasMigrations: boolean): Promise<NewMigration | undefined> {
  const texts = ['upSql', 'downSql', 'sqlFromFile'].filter((option) => textOption(context, option) !== undefined);
  const [isDump, isDiff] = [flagOption(context, 'fromServer'), flagOption(context, 'fromDiff')];
  if ((isDump || isDiff) && texts.length > 0) {
    const flag = isDump ? '--from-server' : '--from-diff';
    throw failure('usage', `${flag} cannot be combined with --up-sql, --down-sql or --sql-from-file`, {}, EXIT.usage);
  }
  if (isDump && isDiff) throw failure('usage', '--from-server and --from-diff exclude each other', {}, EXIT.usage);
  requireDiffOptions(context);
  if (isDiff) return await diffed(context, source);
  if (isDump) {
    const up = await dumped(context, source);
    if (hasMigrations)
      context.warn(`${source} already has migrations: on an empty database, this one fails for objects that they have created`);
    return { up, down: '', state: 'applied' };
  }
  return { up: givenUp(context), down: textOption(context, 'downSql') ?? '', state: 'pending' };
}

/** @throws ProjectFailure */
function givenUp(context: CommandContext): string {
  const [sql, file] = [textOption(context, 'upSql'), textOption(context, 'sqlFromFile')];
  if (file === undefined) return sql ?? '';
  if (sql !== undefined) throw failure('usage', '--up-sql and --sql-from-file exclude each other', {}, EXIT.usage);
  const content = readNamedFile(context.cwd, file);
  if (content === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
  return content;
}

/** SQL that creates the schema of a source, with the rows of its enum tables. @throws ProjectFailure */
async function dumped(context: CommandContext, name: string): Promise<string> {
  const server = await context.server();
  const source = (await serverSources(server, await context.kinds())).find((each) => each.name === name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const schemas = (textOption(context, 'schema') ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  const dumpSchema = source.backend?.migrations?.dumpSchema;
  if (dumpSchema === undefined) throw failure('not-supported', `--from-server does not support sources of kind "${source.kind}"`);
  const { sql, omitted } = await dumpSchema(dumpContext(server, source), schemas, enumTables(source));
  for (const object of omitted) context.warn(`${object} is not in the dump: add it by hand`);
  return sql;
}

export interface MigrationTarget {
  readonly project: Project;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  readonly options: MigrationOptions;
}

/** Adds a migration to the history whose SQL has run already. @throws ProjectFailure */
export async function markApplied({ project, server, kinds, options }: MigrationTarget, name: string, version: bigint): Promise<void> {
  const [source] = await chosenSources(project, server, kinds, project.migrationsFolder, name);
  if (source === undefined) return;
  const known = (await knownMigrations(project, server, source)).filter((each) => each.version === version);
  const steps = known.map((each) => ({ direction: 'up' as const, known: each }));
  await runSteps(server, source, steps, { ...options, skipExecution: true });
  await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
}

/** `svc migrate delete` */
export async function runMigrateDelete(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const text = textOption(context, 'version');
  if ((text === undefined) === !flagOption(context, 'all')) throw failure('usage', 'name either --version or --all', {}, EXIT.usage);
  const name = oneFolder(project, project.migrationsFolder, textOption(context, 'databaseName'), []);
  const source = (await serverSources(server, await context.kinds())).find((each) => each.name === name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const all = await knownMigrations(project, server, source);
  const version = text === undefined ? undefined : versionOption(text, '--version');
  const chosen = all.filter((each) => version === undefined || each.version === version);
  if (chosen.length === 0)
    throw failure('migration', version === undefined ? 'there are no migrations' : `there is no migration ${version}`);
  const keepsFiles = flagOption(context, 'server');
  const list = chosen.map((each) => String(each.version)).join(', ');
  const question = keepsFiles
    ? `This removes ${list} of ${name} from the migration history.`
    : `This removes ${list} of ${name} from the migration history, and their folders.`;
  if (!(await context.confirm(question))) throw failure('not-confirmed', 'nothing was removed');
  const { history } = migrationsOf(source);
  const written = chosen.filter(({ entry }) => entry !== undefined);
  if (written.length > 0) {
    await writeHistory(server, source, written.map(({ version }) => history.remove(version)).join(''));
    await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
  }
  if (!keepsFiles) for (const { migration } of chosen) if (migration !== undefined) rmSync(migration.folder, { recursive: true });
  return {
    text: `removed ${list}${keepsFiles ? ' from the migration history' : ''}`,
    data: { removed: chosen.map((each) => String(each.version)) },
  };
}

/** The commands of `svc migrate` that work on files. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyChanges, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { readMigrations } from '../../migrations/migration-files.ts';
import { mirrorState, readEntries, runSteps, writeHistory } from '../../migrations/run-migrations.ts';
import { dumpContext } from '../../migrations/seeds.ts';
import { chosenSources, enumTables, migrationsOf, oneFolder, serverSources, sourceNames } from '../../migrations/sources.ts';
import type { Project } from '../../project/project.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { knownMigrations } from './migrate.ts';
import { runOptions, versionOption } from './run-options.ts';

/** Sources that the metadata of the project names; none where it cannot be read. */
export function projectSources(project: Project): readonly string[] {
  try {
    return sourceNames(readMetadata(project.metadata).document);
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return [];
    throw thrown;
  }
}

/** A name for a file or folder of what people wrote. */
export function fileName(name: string): string {
  const plain = name
    .trim()
    .replace(/[^\p{L}\p{N}_.-]+/gu, '_')
    .slice(0, 150);
  if (plain === '' || plain.startsWith('.')) throw failure('usage', `"${name}" is no name`, {}, EXIT.usage);
  return plain;
}

/** `svc migrate create` */
export async function runMigrateCreate(call: Call): Promise<Outcome> {
  const project = await call.project();
  const named = call.args[0] as string;
  const sources = projectSources(project);
  const source = oneFolder(project, project.migrationsFolder, textOption(call, 'databaseName'), sources);
  if (sources.length > 0 && !sources.includes(source)) call.warn(`the metadata has no source "${source}"`);
  const file = textOption(call, 'sqlFromFile');
  if (file !== undefined && textOption(call, 'upSql') !== undefined)
    throw failure('usage', '--up-sql and --sql-from-file exclude each other', {}, EXIT.usage);
  const fromFile = file === undefined ? undefined : readNamedFile(call.cwd, file);
  if (file !== undefined && fromFile === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
  const migrations = readMigrations(project.files, join(project.migrationsFolder, source));
  const last = migrations.at(-1)?.version ?? 0n;
  const now = BigInt(Date.now());
  // A clock that is behind must not put it before what is there.
  const version = now > last ? now : last + 1n;
  const folder = join(project.migrationsFolder, source, `${version}_${fileName(named)}`);
  const dump = flagOption(call, 'fromServer') ? await dumped(call, source) : undefined;
  if (dump !== undefined && migrations.length > 0)
    call.warn(`${source} has migrations already: on an empty database this one fails where it makes again what they have made`);
  const withEnd = (sql: string): string => (sql === '' || sql.endsWith('\n') ? sql : `${sql}\n`);
  const changes = new Map<string, string | null>([
    [join(folder, 'up.sql'), withEnd(dump ?? fromFile ?? textOption(call, 'upSql') ?? '')],
    [join(folder, 'down.sql'), withEnd(textOption(call, 'downSql') ?? '')],
  ]);
  applyChanges(project.files, changes);
  if (dump !== undefined) await recordAsApplied(call, source, version);
  return { text: project.files.show(folder), data: { version: String(version), source, folder: project.files.show(folder) } };
}

/** The schema of a source, with the rows of its enum tables. @throws ProjectFailure */
async function dumped(call: Call, name: string): Promise<string> {
  if (['upSql', 'downSql', 'sqlFromFile'].some((option) => textOption(call, option) !== undefined))
    throw failure('usage', '--from-server excludes the other sources of SQL', {}, EXIT.usage);
  const server = await call.server();
  const source = (await serverSources(server, await call.kinds())).find((each) => each.name === name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const schemas = (textOption(call, 'schema') ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  const dumpSchema = source.backend?.migrations?.dumpSchema;
  if (dumpSchema === undefined)
    throw failure('not-supported', `the schema of a source of the kind "${source.kind}" is not written as a migration`);
  const { sql, left } = await dumpSchema(dumpContext(server, source), schemas, enumTables(source));
  for (const object of left) call.warn(`${object} is not written: add it by hand`);
  return sql;
}

/** @throws ProjectFailure */
async function recordAsApplied(call: Call, name: string, version: bigint): Promise<void> {
  const [project, server] = [await call.project(), await call.server()];
  const [source] = await chosenSources(project, server, await call.kinds(), project.migrationsFolder, name);
  if (source === undefined) return;
  const known = (await knownMigrations(project, server, source)).filter((each) => each.version === version);
  const steps = known.map((each) => ({ direction: 'up' as const, known: each }));
  await runSteps(server, source, steps, { ...runOptions(call), skipExecution: true });
  await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
}

/** `svc migrate delete` */
export async function runMigrateDelete(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const text = textOption(call, 'version');
  if ((text === undefined) === !flagOption(call, 'all')) throw failure('usage', 'either --version or --all', {}, EXIT.usage);
  const name = oneFolder(project, project.migrationsFolder, textOption(call, 'databaseName'), []);
  const source = (await serverSources(server, await call.kinds())).find((each) => each.name === name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const all = await knownMigrations(project, server, source);
  const version = text === undefined ? undefined : versionOption(text, '--version');
  const chosen = all.filter((each) => version === undefined || each.version === version);
  if (chosen.length === 0)
    throw failure('migration', version === undefined ? 'there are no migrations' : `there is no migration ${version}`);
  const keepsFiles = flagOption(call, 'server');
  const list = chosen.map((each) => String(each.version)).join(', ');
  const question = keepsFiles
    ? `This forgets that ${list} of ${name} were run.`
    : `This forgets that ${list} of ${name} were run, and removes their folders.`;
  if (!(await call.confirm(question))) throw failure('not-confirmed', 'nothing was removed');
  const { history } = migrationsOf(source);
  const written = chosen.filter(({ entry }) => entry !== undefined);
  if (written.length > 0) {
    await writeHistory(server, source, written.map(({ version }) => history.remove(version)).join(''));
    await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
  }
  if (!keepsFiles) for (const { migration } of chosen) if (migration !== undefined) rmSync(migration.folder, { recursive: true });
  return { text: `${keepsFiles ? 'forgotten' : 'removed'} ${list}`, data: { removed: chosen.map((each) => String(each.version)) } };
}

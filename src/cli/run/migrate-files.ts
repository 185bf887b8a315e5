/** The commands of `svc migrate` that work on files. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { applyChanges, projectFiles } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { bookOf } from '../../project/migrations/book.ts';
import { type Migration, readMigrations } from '../../project/migrations/migration-files.ts';
import { mirrorState, readEntries, requireBook, runSteps } from '../../project/migrations/run-migrations.ts';
import { scanSql } from '../../project/migrations/scan-sql.ts';
import { dumpSchema } from '../../project/migrations/schema-dump.ts';
import { dumpRows } from '../../project/migrations/seeds.ts';
import { schemaAfter, verifyMigration } from '../../project/migrations/schema-print.ts';
import { chosenSources, oneFolder, serverSources, sourcesOf } from '../../project/migrations/sources.ts';
import { eachObject } from '../../project/lint.ts';
import { exportFrom } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { ServerClient, SqlSource } from '../../project/server-client.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { knownMigrations } from './migrate.ts';
import { runOptions, versionOption } from './run-options.ts';

/** Sources that the metadata of the project names; none where it cannot be read. */
export function projectSources(project: Project): readonly string[] {
  try {
    return sourcesOf(readMetadata(project.metadata).document).map(({ name }) => name);
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
  const fromFile = file === undefined ? undefined : projectFiles(call.cwd).read(resolve(call.cwd, file));
  if (file !== undefined && fromFile === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
  const migrations = readMigrations(project.files, join(project.migrationsFolder, source));
  const last = migrations.at(-1)?.version ?? 0n;
  const now = BigInt(Date.now());
  // A clock that is behind must not put it before what is there.
  const version = now > last ? now : last + 1n;
  const folder = join(project.migrationsFolder, source, `${version}_${fileName(named)}`);
  const dump = flagOption(call, 'fromServer') ? await dumped(call, source) : undefined;
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
  const source = sourcesOf((await exportFrom(server)).metadata).find((each) => each.name === name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const schemas = (textOption(call, 'schema') ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  const { sql, left } = await dumpSchema(server, source, schemas);
  for (const object of left) call.warn(`${object} is not written: add it by hand`);
  let rows = '';
  for (const table of enumTables(source.entry))
    if (schemas.length === 0 || schemas.includes(table.schema)) rows += `\n${await dumpRows(server, source, table.quoted, false)}`;
  return sql + rows;
}

function enumTables(entry: JsonObject): readonly { readonly schema: string; readonly quoted: string }[] {
  const tables: { schema: string; quoted: string }[] = [];
  const quoted = (part: string): string => `"${part.replaceAll('"', '""')}"`;
  eachObject(entry['tables'], [], ({ table, is_enum: isEnum }) => {
    if (isEnum !== true) return;
    const named = isJsonObject(table) ? table : { schema: 'public', name: table ?? '' };
    const [schema, name] = [String(named['schema'] ?? 'public'), String(named['name'] ?? '')];
    tables.push({ schema, quoted: `${quoted(schema)}.${quoted(name)}` });
  });
  return tables;
}

/** @throws ProjectFailure */
async function recordAsApplied(call: Call, name: string, version: bigint): Promise<void> {
  const [project, server] = [await call.project(), await call.server()];
  const [source] = await chosenSources(project, server, project.migrationsFolder, name);
  if (source === undefined) return;
  const known = (await knownMigrations(project, server, source)).filter((each) => each.version === version);
  const steps = known.map((each) => ({ direction: 'up' as const, known: each }));
  await runSteps(server, source, steps, { ...runOptions(call), skipExecution: true });
  await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
}

/** `svc migrate squash` */
export async function runMigrateSquash(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const name = oneFolder(project, project.migrationsFolder, textOption(call, 'databaseName'), []);
  const [source] = await chosenSources(project, server, project.migrationsFolder, name);
  if (source === undefined) throw failure('no-source', `the service has no source "${name}"`);
  const all = await knownMigrations(project, server, source);
  const from = versionOption(textOption(call, 'from') as string, '--from');
  const last = textOption(call, 'to');
  const to = last === undefined ? (all.findLast(({ migration }) => migration !== undefined)?.version ?? from) : versionOption(last, '--to');
  const chosen = all.filter(({ version }) => version >= from && version <= to);
  if (chosen.length < 2) throw failure('migration', `there are fewer than two migrations from ${from} to ${to}`);
  const wrong = chosen.filter(({ status }) => status !== 'applied' && status !== 'pending');
  if (wrong.length > 0)
    throw failure(
      'migration',
      `${wrong.map(({ version, status }) => `${version} is ${status}`).join(', ')}: only migrations that are applied or pending as they are can be squashed`,
    );
  const isApplied = chosen.every(({ status }) => status === 'applied');
  if (!isApplied && chosen.some(({ status }) => status === 'applied'))
    throw failure('migration', `some migrations from ${from} to ${to} are applied and some are not: apply all of them, or none`);
  const migrations = chosen.map(({ migration }) => migration as Migration);
  const alone = migrations.filter((each) => each.withoutTransaction || scanSql(each.up ?? '').control.length > 0);
  for (const { shown } of alone) call.warn(`${shown} cannot share a transaction: the new migration is run without one`);
  const without = migrations.filter(({ down }) => down === null);
  for (const { shown } of without) call.warn(`${shown} has no down: taking back the new migration does not take it back`);
  const part = (each: Migration, sql: string): string =>
    `-- ${each.version}_${each.name}\n${sql.trimEnd()}\n${/;\s*(?:--[^\n]*)?$/.test(sql.trimEnd()) ? '' : ';\n'}`;
  const up = (alone.length > 0 ? '-- svc: no-transaction\n' : '') + migrations.map((each) => part(each, each.up ?? '')).join('\n');
  const down = [...migrations]
    .reverse()
    .map((each) => (each.down === null ? '' : part(each, each.down)))
    .join('\n');
  if (!isApplied && alone.length === 0 && bookOf(source.kind)?.transactional === true) {
    const earlier = all.filter(({ status, version }) => status === 'pending' && version < from).map(({ migration }) => migration?.up ?? '');
    await requireSameSchema(server, source, [...earlier, ...migrations.map((each) => each.up ?? '')], [...earlier, up]);
  }
  const keep = migrations.at(-1) as Migration;
  const parent = join(project.migrationsFolder, source.name);
  const folder = join(parent, `${keep.version}_${fileName(textOption(call, 'name') ?? 'squashed')}`);
  const aside = join(parent, `squashed_${from}_to_${to}`);
  if (!(await call.confirm(`This makes one migration of ${migrations.length}, in ${project.files.show(folder)}.`)))
    throw failure('not-confirmed', 'nothing was squashed');
  const isDeleted = flagOption(call, 'deleteSource');
  // First what is new, beside the others; a run that is cut off leaves two folders of one version, which is told.
  const drafted = `${folder}.new`;
  applyChanges(
    project.files,
    new Map([
      [join(drafted, 'up.sql'), up],
      [join(drafted, 'down.sql'), down],
    ]),
  );
  if (!isDeleted) mkdirSync(aside, { recursive: true });
  for (const each of migrations) {
    if (isDeleted) rmSync(each.folder, { recursive: true });
    else renameSync(each.folder, join(aside, `${each.version}_${each.name}`));
  }
  renameSync(drafted, folder);
  if (isApplied) {
    const book = requireBook(source);
    const [squashed] = readMigrations(project.files, parent).filter(({ version }) => version === keep.version);
    if (squashed === undefined) throw failure('unexpected', 'the new migration cannot be read');
    const forget = migrations.map(({ version }) => book.remove(version)).join('');
    const entry = { version: keep.version, name: squashed.name, checksum: squashed.checksum, down: squashed.down };
    const sql = book.begin({}) + forget + book.insert(entry, { dirty: false }) + (book.transactional ? '' : book.endSession);
    await server.sql(source, sql, { check_metadata_consistency: false });
    await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
  }
  return {
    text: `${project.files.show(folder)} holds ${migrations.length} migrations`,
    data: { folder: project.files.show(folder), squashed: migrations.map(({ version }) => String(version)) },
  };
}

/** @throws ProjectFailure where the SQL of the one list makes another schema than that of the other */
async function requireSameSchema(
  server: ServerClient,
  source: SqlSource,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const [one, other] = [await schemaAfter(server, source, before.join('\n;\n')), await schemaAfter(server, source, after.join('\n;\n'))];
  const [left, come] = [one.filter((line) => !other.includes(line)), other.filter((line) => !one.includes(line))];
  if (left.length + come.length === 0) return;
  const shown = [...left.map((line) => `- ${line}`), ...come.map((line) => `+ ${line}`)].slice(0, 20);
  throw failure('squash', `the new migration would make another schema: ${shown.join('; ')}`);
}

/** `svc migrate delete` */
export async function runMigrateDelete(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const text = textOption(call, 'version');
  if ((text === undefined) === !flagOption(call, 'all')) throw failure('usage', 'either --version or --all', {}, EXIT.usage);
  const name = oneFolder(project, project.migrationsFolder, textOption(call, 'databaseName'), []);
  const source = (await serverSources(server)).find((each) => each.name === name);
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
  const book = requireBook(source);
  const written = chosen.filter(({ entry }) => entry !== undefined);
  if (written.length > 0) {
    const sql = book.begin({}) + written.map((each) => book.remove(each.version)).join('') + (book.transactional ? '' : book.endSession);
    await server.sql(source, sql, { check_metadata_consistency: false });
    await mirrorState(server, new Map([[source.name, await readEntries(server, source)]]));
  }
  if (!keepsFiles) for (const { migration } of chosen) if (migration !== undefined) rmSync(migration.folder, { recursive: true });
  return { text: `${keepsFiles ? 'forgotten' : 'removed'} ${list}`, data: { removed: chosen.map((each) => String(each.version)) } };
}

/** `svc migrate verify` */
export async function runMigrateVerify(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const sources = await chosenSources(project, server, project.migrationsFolder, textOption(call, 'databaseName'));
  const problems: Problem[] = [];
  const verified: string[] = [];
  for (const source of sources) {
    if (bookOf(source.kind)?.transactional !== true) {
      const message = `definitions of the source ${source.name} cannot be rolled back: its migrations are not tried`;
      if (sources.length === 1) throw failure('not-supported', message);
      call.warn(message);
      continue;
    }
    const pending = (await knownMigrations(project, server, source)).filter(({ status }) => status === 'pending');
    const before: string[] = [];
    for (const { migration } of pending) {
      if (migration === undefined) continue;
      const [up, down] = [trialText(migration, 'up'), trialText(migration, 'down')];
      if (up === undefined) {
        problems.push({
          code: 'not-tried',
          message: 'cannot run in a transaction: it is not tried, nor is what follows',
          file: migration.shown,
        });
        break;
      }
      if (down === undefined)
        problems.push({
          code: 'no-down',
          message: migration.down === null ? 'has no down.sql' : 'its down cannot run in a transaction: it is not tried',
          file: migration.shown,
        });
      else problems.push(...(await verifyOne(call, source, before.join('\n;\n'), migration, up, down)));
      if (problems.length === 0) verified.push(String(migration.version));
      before.push(up);
    }
  }
  return { exit: problems.length > 0 ? EXIT.failed : EXIT.done, problems, text: `${verified.length} verified`, data: { verified } };
}

function trialText(migration: Migration, direction: 'up' | 'down'): string | undefined {
  const sql = direction === 'up' ? migration.up : migration.down;
  if (sql === null || (direction === 'up' && migration.withoutTransaction)) return undefined;
  const scanned = scanSql(sql);
  if (scanned.outside.length > 0 || scanned.foreign.length > 0) return undefined;
  return scanned.control.length === 0 ? sql : scanned.unwrapped;
}

async function verifyOne(
  call: Call,
  source: SqlSource,
  before: string,
  migration: Migration,
  up: string,
  down: string,
): Promise<readonly Problem[]> {
  try {
    const { differences, second } = await verifyMigration(await call.server(), source, before, up, down);
    const lines = [
      ...(differences?.left ?? []).map((line) => `is left after down: ${line}`),
      ...(differences?.lost ?? []).map((line) => `is gone after down: ${line}`),
      ...(second?.left ?? []).map((line) => `is there after up for the second time only: ${line}`),
      ...(second?.lost ?? []).map((line) => `is not there after up for the second time: ${line}`),
    ];
    return lines.map((message) => ({ code: 'not-undone', message, file: migration.shown }));
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
    return thrown.problems.map((problem) => ({ ...problem, file: migration.shown }));
  }
}

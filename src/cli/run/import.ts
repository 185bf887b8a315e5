/** `svc import` */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { CUTOVER } from '../../project-import/cutover.ts';
import {
  DECISIONS_FILE,
  decisionsIn,
  digestOf,
  importProject,
  openEntries,
  printReport,
  reportJson,
} from '../../project-import/import-project.ts';
import { translatedEnvironment } from '../../project-import/environment-file.ts';
import { foreignFiles, type Input, ofVersion3, readInput } from '../../project-import/read-input.ts';
import { migratedSources, readMigrations } from '../../migrations/migration-files.ts';
import { compareMigrations, readEntries, runSteps } from '../../migrations/run-migrations.ts';
import { serverSources } from '../../migrations/sources.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { openProject } from '../../project/project.ts';
import { exportedDocument } from '../../project/document.ts';
import { ServerError, serverClient, type ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { type CommandContext, flagOption, listOption, type CommandOutcome, textOption } from '../context.ts';
import { isDatabaseUrl, stateOfDatabase, stateOfService } from '../../project-import/other-state.ts';
import { runOptions } from './run-options.ts';

export async function runImport(context: CommandContext): Promise<CommandOutcome> {
  if (flagOption(context, 'cutover')) return { text: CUTOVER, data: { text: CUTOVER } };
  const environmentFile = textOption(context, 'envFile');
  if (environmentFile !== undefined) {
    const text = readNamedFile(context.cwd, environmentFile);
    if (text === undefined) throw failure('missing-file', `the file ${environmentFile} does not exist`, {}, EXIT.usage);
    return { text: translatedEnvironment(text), data: { text: translatedEnvironment(text) } };
  }
  const [named] = context.args;
  const from = textOption(context, 'fromServer');
  if ((named === undefined) === (from === undefined)) throw failure('usage', 'name either a directory or --from-server', {}, EXIT.usage);
  const path = named === undefined ? undefined : resolve(context.cwd, named);
  const out = resolve(
    context.cwd,
    textOption(context, 'out') ?? `${path === undefined ? 'project' : basename(path).replace(/\.(?:json|ya?ml)$/i, '')}-svc`,
  );
  if (path !== undefined && (out === path || `${out}/`.startsWith(`${path}/`)))
    throw failure('usage', 'the new project must be another directory: choose one with --out', {}, EXIT.usage);
  const isNew = !existsSync(out) || readdirSync(out).length === 0;
  if (!isNew && !existsSync(join(out, DECISIONS_FILE)))
    throw failure('exists', `${out} is not empty and was not created by svc import: choose another directory with --out`, {}, EXIT.usage);
  const input = path === undefined ? await inputOfServer(context, from as string, out) : readInput(path);
  const { accepted: known, written } = decisionsIn(out);
  const accepted = new Set([...known, ...listOption(context, 'accept')]);
  const { texts, report } = importProject(input, out, accepted, await context.kinds());
  const kept = writeImport(out, texts, written);
  const reportFile = textOption(context, 'report');
  if (reportFile !== undefined) {
    const root = resolve(context.cwd, reportFile, '..');
    applyChanges(projectFiles(root), new Map([[resolve(context.cwd, reportFile), `${indented(reportJson(report))}\n`]]));
  }
  const stateFrom = textOption(context, 'stateFrom');
  const recorded = stateFrom === undefined ? undefined : await takeOverState(context, stateFrom, out);
  const open = openEntries(report).length;
  const edited =
    kept.length === 0
      ? ''
      : `\n\nleft unchanged, because they were edited since the last import:\n${kept.map((file) => `  ${file}`).join('\n')}`;
  const text = `${printReport(report, out)}${edited}${open === 0 ? '' : `\n\n${counted(open, 'entry', 'entries')} to review; --accept marks an entry as accepted`}`;
  return {
    exit: open === 0 ? EXIT.done : EXIT.found,
    text,
    data: { report: reportJson(report), out, open, kept, ...(recorded === undefined ? {} : { recorded }) },
  };
}

/**
 * Writes the files of an import. Over an earlier import in the same directory, files that were edited since are left unchanged if the
 * import has not changed them; if both have changed a file, nothing is written.
 * @returns files that were left unchanged
 * @throws ProjectFailure
 */
function writeImport(out: string, texts: ReadonlyMap<string, string>, written: ReadonlyMap<string, string>): readonly string[] {
  const files = projectFiles(out);
  const changes = new Map<string, string | null>();
  const kept: string[] = [];
  const conflicts: string[] = [];
  for (const file of [...new Set([...texts.keys(), ...written.keys()])].sort()) {
    const path = join(out, file);
    const [now, to, before] = [files.read(path), texts.get(file), written.get(file)];
    if (now === to) continue;
    if (now === undefined || file === DECISIONS_FILE || digestOf(now) === before) changes.set(path, to ?? null);
    else if (to !== undefined && digestOf(to) === before) kept.push(file);
    else conflicts.push(file);
  }
  if (conflicts.length > 0)
    throw failure(
      'edited',
      `edited since the last import, and changed by this one: ${conflicts.join(', ')}. Nothing was written. Remove these files, or import to another directory with --out, and repeat the edits`,
      {},
      EXIT.usage,
    );
  applyChanges(files, changes);
  return kept;
}

/** Client of a Hasura service, whose admin secret has another header. */
function otherServer(
  context: CommandContext,
  endpoint: string,
): { readonly client: ServerClient; readonly headers: Readonly<Record<string, string>>; readonly close: () => Promise<void> } {
  const { settings, warnings } = openProject(context.cwd, { project: context.cwd, endpoint }, {}, false);
  for (const warning of warnings) context.warn(warning);
  const secret = textOption(context, 'sourceSecret') ?? context.environment['HASURA_GRAPHQL_ADMIN_SECRET'];
  const client = serverClient({ ...settings, endpointOrigin: '--from-server', adminSecret: null });
  return { client, headers: secret === undefined ? {} : { 'x-hasura-admin-secret': secret }, close: () => client.close() };
}

async function requestOther(context: CommandContext, endpoint: string, body: JsonObject, path = 'v1/metadata'): Promise<JsonObject> {
  const { client, headers, close } = otherServer(context, endpoint);
  try {
    const { status, body: answer } = await client.send(path, { body, headers });
    if (status !== 200 || !isJsonObject(answer))
      throw new ServerError(status, isJsonObject(answer) ? answer : { error: `${endpoint} responded with status ${status}` });
    return answer;
  } finally {
    await close();
  }
}

async function inputOfServer(context: CommandContext, endpoint: string, out: string): Promise<Input> {
  const answer = await requestOther(context, endpoint, { type: 'export_metadata', version: 2, args: {} });
  const { metadata } = exportedDocument(answer);
  return {
    layout: 'single file',
    root: out,
    files: foreignFiles(out),
    config: {},
    document: ofVersion3(metadata),
    unjoined: [],
    actionsAreJoined: false,
    metadataFolder: undefined,
    problems: [],
    migrationsFolder: join(out, 'none'),
    seedsFolder: join(out, 'none'),
  };
}

/** Marks migrations that are applied in the Hasura service as applied here. */
async function takeOverState(context: CommandContext, endpoint: string, out: string): Promise<readonly string[]> {
  const state = isDatabaseUrl(endpoint)
    ? await stateOfDatabase(endpoint)
    : await stateOfService((path, body) => requestOther(context, endpoint, body, path));
  const server = await context.server();
  const project = openProject(context.cwd, { project: out }, context.environment);
  const sources = await serverSources(server, await context.kinds());
  // Their migrations would be run again once the source exists.
  const absent = migratedSources(project.migrationsFolder).filter((name) => name in state && !sources.some((each) => each.name === name));
  if (absent.length > 0)
    throw failure(
      'no-source',
      `the service does not have ${absent.map((name) => `the source "${name}"`).join(', ')} yet, and nothing was marked as applied. Run svc metadata apply in ${out}, then this command again`,
    );
  const recorded: string[] = [];
  for (const source of sources) {
    const versions = state[source.name];
    if (versions === undefined) continue;
    const applied = new Set(Object.entries(versions).flatMap(([version, dirty]) => (dirty === false ? [version] : [])));
    const migrations = readMigrations(project.files, join(project.migrationsFolder, source.name));
    const all = compareMigrations(migrations, await readEntries(server, source));
    const steps = all
      .filter(({ status, version }) => status === 'pending' && applied.has(String(version)))
      .map((known) => ({ direction: 'up' as const, known }));
    const done = await runSteps(server, source, steps, { ...runOptions(context), skipExecution: true });
    recorded.push(...done.map(({ version }) => `${source.name} ${version}`));
    const missing = [...applied].filter((version) => !migrations.some((migration) => String(migration.version) === version));
    if (missing.length > 0) context.warn(`${source.name}: there is no folder for the applied migrations ${missing.join(', ')}`);
  }
  return recorded;
}

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
import { type Call, flagOption, listOption, type Outcome, textOption } from '../call.ts';
import { isDatabaseUrl, stateOfDatabase, stateOfService } from '../../project-import/other-state.ts';
import { runOptions } from './run-options.ts';

export async function runImport(call: Call): Promise<Outcome> {
  if (flagOption(call, 'cutover')) return { text: CUTOVER, data: { text: CUTOVER } };
  const environmentFile = textOption(call, 'envFile');
  if (environmentFile !== undefined) {
    const text = readNamedFile(call.cwd, environmentFile);
    if (text === undefined) throw failure('missing-file', `the file ${environmentFile} does not exist`, {}, EXIT.usage);
    return { text: translatedEnvironment(text), data: { text: translatedEnvironment(text) } };
  }
  const [named] = call.args;
  const from = textOption(call, 'fromServer');
  if ((named === undefined) === (from === undefined)) throw failure('usage', 'either a directory or --from-server', {}, EXIT.usage);
  const path = named === undefined ? undefined : resolve(call.cwd, named);
  const out = resolve(
    call.cwd,
    textOption(call, 'out') ?? `${path === undefined ? 'project' : basename(path).replace(/\.(?:json|ya?ml)$/i, '')}-svc`,
  );
  if (path !== undefined && (out === path || `${out}/`.startsWith(`${path}/`)))
    throw failure('usage', 'the new project is to be another directory: --out', {}, EXIT.usage);
  const isNew = !existsSync(out) || readdirSync(out).length === 0;
  if (!isNew && !existsSync(join(out, DECISIONS_FILE)))
    throw failure('exists', `${out} is no import and not empty: choose another directory with --out`, {}, EXIT.usage);
  const input = path === undefined ? await inputOfServer(call, from as string, out) : readInput(path);
  const { accepted: known, written } = decisionsIn(out);
  const accepted = new Set([...known, ...listOption(call, 'accept')]);
  const { texts, report } = importProject(input, out, accepted, await call.kinds());
  const kept = writeImport(out, texts, written);
  const reportFile = textOption(call, 'report');
  if (reportFile !== undefined) {
    const root = resolve(call.cwd, reportFile, '..');
    applyChanges(projectFiles(root), new Map([[resolve(call.cwd, reportFile), `${indented(reportJson(report))}\n`]]));
  }
  const stateFrom = textOption(call, 'stateFrom');
  const recorded = stateFrom === undefined ? undefined : await takeState(call, stateFrom, out);
  const open = openEntries(report).length;
  const edited = kept.length === 0 ? '' : `\n\nleft as they were edited here:\n${kept.map((file) => `  ${file}`).join('\n')}`;
  const text = `${printReport(report, out)}${edited}${open === 0 ? '' : `\n\n${counted(open, 'entry', 'entries')} to look at; --accept writes down that an entry is known`}`;
  return {
    exit: open === 0 ? EXIT.done : EXIT.found,
    text,
    data: { report: reportJson(report), out, open, kept, ...(recorded === undefined ? {} : { recorded }) },
  };
}

/**
 * Writes the files of an import. Of an earlier one in the same directory, what was edited since is left as it is where the
 * import says the same as then, and refused, with nothing written, where both have changed.
 * @returns files that were left
 */
function writeImport(out: string, texts: ReadonlyMap<string, string>, written: ReadonlyMap<string, string>): readonly string[] {
  const files = projectFiles(out);
  const changes = new Map<string, string | null>();
  const kept: string[] = [];
  const torn: string[] = [];
  for (const file of [...new Set([...texts.keys(), ...written.keys()])].sort()) {
    const path = join(out, file);
    const [now, to, before] = [files.read(path), texts.get(file), written.get(file)];
    if (now === to) continue;
    if (now === undefined || file === DECISIONS_FILE || digestOf(now) === before) changes.set(path, to ?? null);
    else if (to !== undefined && digestOf(to) === before) kept.push(file);
    else torn.push(file);
  }
  if (torn.length > 0)
    throw failure(
      'edited',
      `edited since they were imported, and other ones now: ${torn.join(', ')}. Nothing was written: remove them, or import to another directory with --out, and put the edits in again`,
      {},
      EXIT.usage,
    );
  applyChanges(files, changes);
  return kept;
}

/** A service of the other engine, which speaks of its own secret. */
function otherServer(
  call: Call,
  endpoint: string,
): { readonly client: ServerClient; readonly headers: Readonly<Record<string, string>>; readonly close: () => Promise<void> } {
  const { settings, warnings } = openProject(call.cwd, { project: call.cwd, endpoint }, {}, false);
  for (const warning of warnings) call.warn(warning);
  const secret = textOption(call, 'sourceSecret') ?? call.environment['HASURA_GRAPHQL_ADMIN_SECRET'];
  const client = serverClient({ ...settings, adminSecret: null });
  return { client, headers: secret === undefined ? {} : { 'x-hasura-admin-secret': secret }, close: () => client.close() };
}

async function askOther(call: Call, endpoint: string, body: JsonObject, path = 'v1/metadata'): Promise<JsonObject> {
  const { client, headers, close } = otherServer(call, endpoint);
  try {
    const { status, body: answer } = await client.send(path, { body, headers });
    if (status !== 200 || !isJsonObject(answer))
      throw new ServerError(status, isJsonObject(answer) ? answer : { error: `${endpoint} answers ${status}` });
    return answer;
  } finally {
    await close();
  }
}

async function inputOfServer(call: Call, endpoint: string, out: string): Promise<Input> {
  const answer = await askOther(call, endpoint, { type: 'export_metadata', version: 2, args: {} });
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

/** Writes down what the other service says is applied. */
async function takeState(call: Call, endpoint: string, out: string): Promise<readonly string[]> {
  const state = isDatabaseUrl(endpoint)
    ? await stateOfDatabase(endpoint)
    : await stateOfService((path, body) => askOther(call, endpoint, body, path));
  const server = await call.server();
  const project = openProject(call.cwd, { project: out }, call.environment);
  const sources = await serverSources(server, await call.kinds());
  // Else they would be run once the source is there.
  const absent = migratedSources(project.migrationsFolder).filter((name) => name in state && !sources.some((each) => each.name === name));
  if (absent.length > 0)
    throw failure(
      'no-source',
      `the service does not have ${absent.map((name) => `the source "${name}"`).join(', ')} yet, so that nothing was written down: svc metadata apply in ${out} adds it; then run this again`,
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
    const done = await runSteps(server, source, steps, { ...runOptions(call), skipExecution: true });
    recorded.push(...done.map(({ version }) => `${source.name} ${version}`));
    const missing = [...applied].filter((version) => !migrations.some((migration) => String(migration.version) === version));
    if (missing.length > 0) call.warn(`${source.name}: no folder of the applied migrations ${missing.join(', ')}`);
  }
  return recorded;
}

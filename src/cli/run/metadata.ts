/** The commands of `svc metadata`. */
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { counted } from '../../util/counted.ts';
import { type Json, type JsonObject, objectOf } from '../../util/json.ts';
import { type MetadataFolder, readableMetadata, readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { applyChanges, projectFiles } from '../../project/directory/files.ts';
import { canonical, SOURCES_FILE } from '../../project/directory/sections.ts';
import { createNode, newYamlFile, printYamlFile } from '../../project/directory/yaml-file.ts';
import { indented, writeMetadata } from '../../project/directory/write-metadata.ts';
import { diffDocuments, type DocumentChange, printChanges, unifiedDiff } from '../../project/document-diff.ts';
import { normalised, shapeProblems } from '../../project/document.ts';
import { errorsIn, EXIT, failure, printProblem, type Problem, ProjectFailure } from '../../project/failure.ts';
import { withSpellingOf } from '../../project/preserve-spelling.ts';
import { isAcceptedOrphan } from '../../project/lint/acceptances.ts';
import { lintMetadata } from '../../project/lint/lint.ts';
import { withSecretsHidden } from '../../project/lint/secrets.ts';
import { openProject } from '../../project/project.ts';
import {
  applyMetadata,
  changesOf,
  exportFrom,
  type LocatedInconsistency,
  titleOf,
  isApplied,
  listInconsistencies,
  problemsOf,
} from '../../project/project-metadata.ts';
import { type CommandContext, flagOption, listOption, type CommandOutcome, textOption } from '../context.ts';
import { findingsOutcome } from './findings.ts';
import { followFiles } from './follow-files.ts';

/** `svc metadata build` */
export async function runBuild(context: CommandContext): Promise<CommandOutcome> {
  const { document } = readMetadata((await context.project()).metadata);
  return { text: printDocument(document, textOption(context, 'output')), data: { metadata: document } };
}

function printDocument(document: JsonObject, format: string | undefined): string {
  return format === 'yaml' ? printYaml(document) : `${indented(document)}\n`;
}

function printYaml(document: JsonObject): string {
  const file = newYamlFile('', '', null);
  file.document.contents = createNode(file, document) as typeof file.document.contents;
  return printYamlFile(file);
}

/** Metadata of the project, with its structure checked. @throws ProjectFailure */
async function checkedMetadata(context: CommandContext): Promise<ReadMetadata> {
  const read = readMetadata((await context.project()).metadata);
  const problems = shapeProblems(read, await context.kinds());
  if (problems.length > 0) throw new ProjectFailure(problems);
  return read;
}

/** `svc metadata apply` */
export async function runApply(context: CommandContext): Promise<CommandOutcome> {
  if (flagOption(context, 'allowInconsistent') && flagOption(context, 'disallowInconsistentMetadata'))
    throw failure('usage', '--allow-inconsistent and --disallow-inconsistent-metadata exclude each other', {}, EXIT.usage);
  if (flagOption(context, 'watch')) return watchAndApply(context);
  return applyOnce(context);
}

async function applyOnce(context: CommandContext): Promise<CommandOutcome> {
  const read = await checkedMetadata(context);
  const server = await context.server();
  const kinds = await context.kinds();
  if (flagOption(context, 'dryRun')) {
    const { metadata } = await exportFrom(server);
    const changes = isApplied(read.document, metadata, kinds) ? [] : changesOf(metadata, read.document, kinds);
    return { text: changes.length === 0 ? 'nothing would change' : printChanges(changes), data: { changes: changes.map(changeJson) } };
  }
  const applied = await applyMetadata(read, server, kinds, { allowInconsistent: flagOption(context, 'allowInconsistent') });
  const outcome = { sent: applied.sent, resource_version: applied.resourceVersion, changes: applied.changes.map(changeJson) };
  const head = applied.sent ? `metadata applied, ${counted(applied.changes.length, 'change')}` : 'the service already has this metadata';
  const format = textOption(context, 'output');
  const text = format === undefined ? head : printDocument((await exportFrom(server)).metadata, format);
  if (applied.inconsistencies.length === 0) return { text, data: outcome };
  const isAllowed = flagOption(context, 'allowInconsistent');
  const problems = problemsOf(applied.inconsistencies);
  const rejected = isAllowed ? [] : errorsIn(problems);
  if (rejected.length === 0) for (const { message } of problems) context.warn(message);
  return {
    text,
    data: { ...outcome, inconsistencies: applied.inconsistencies.map(inconsistencyJson) },
    ...(rejected.length === 0 ? {} : { exit: EXIT.inconsistent, problems: rejected }),
  };
}

/** Applies now and after each change, until the process is interrupted. */
async function watchAndApply(context: CommandContext): Promise<CommandOutcome> {
  const { files, metadata } = await context.project();
  const attempt = async (): Promise<void> => {
    try {
      const { text, problems = [] } = await applyOnce(context);
      context.progress([text ?? '', ...problems.map(({ message }) => message)].join('\n'));
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      context.progress(thrown.message);
    }
  };
  await attempt();
  const following = followFiles(files, [metadata.file ?? metadata.folder], attempt, context.progress);
  await new Promise<void>((done) => {
    process.once('SIGINT', done);
    process.once('SIGTERM', done);
  });
  await following.stop();
  return {};
}

/** `svc metadata export` */
export async function runExport(context: CommandContext): Promise<CommandOutcome> {
  const { metadata } = await exportFrom(await context.server());
  const format = textOption(context, 'output');
  if (format !== undefined) return { text: printDocument(metadata, format), data: { metadata } };
  const { metadata: at, files } = await context.project();
  if ((at.overlays ?? []).length > 0)
    throw failure(
      'not-supported',
      'an environment with overlays cannot be exported, because the files belong to all environments',
      {},
      EXIT.usage,
    );
  const written = writeMetadata(at, withSpellingOf(writtenDocument(at), metadata, await context.kinds()));
  const changes = new Map(written.changes);
  const prune = flagOption(context, 'prune');
  for (const path of written.orphans) {
    if (isAcceptedOrphan(files.read(path) ?? '')) continue;
    if (prune) changes.set(path, null);
    else context.warn(`${files.show(path)} is not included anywhere; --prune removes such files`);
  }
  const shown = [...changes].map(([path, text]) => `${text === null ? 'removed' : 'written'} ${files.show(path)}`);
  const data = {
    written: [...changes].filter(([, text]) => text !== null).map(([path]) => files.show(path)),
    removed: [...changes].filter(([, text]) => text === null).map(([path]) => files.show(path)),
  };
  if (flagOption(context, 'check'))
    return {
      exit: changes.size === 0 ? EXIT.done : EXIT.found,
      text: changes.size === 0 ? 'nothing would change' : shown.join('\n'),
      data,
    };
  applyChanges(files, changes);
  return { text: changes.size === 0 ? 'the files are up to date' : shown.join('\n'), data };
}

/** Document of the files, or an empty one if there are no files yet. @throws ProjectFailure */
function writtenDocument(at: MetadataFolder): JsonObject {
  const isThere = at.files.read(at.file ?? join(at.folder, SOURCES_FILE)) !== undefined;
  return isThere ? readMetadata(at).document : { version: 3, sources: [] };
}

/** `svc metadata diff` */
export async function runDiff(context: CommandContext): Promise<CommandOutcome> {
  const [to, from] = context.args;
  const kinds = await context.kinds();
  const load = async (named: string): Promise<JsonObject> => {
    const path = resolve(context.cwd, named);
    if (/\.(?:json|ya?ml)$/i.test(path))
      return readMetadata({ files: projectFiles(resolve(path, '..')), folder: resolve(path, '..'), file: path }).document;
    return readMetadata(openProject(context.cwd, { project: path }, context.environment).metadata).document;
  };
  const after = to === undefined ? readMetadata((await context.project()).metadata).document : await load(to);
  const before = from === undefined ? (await exportFrom(await context.server())).metadata : await load(from);
  const [one, other] = [normalised(before, kinds) ?? before, normalised(after, kinds) ?? after];
  const changes = diffDocuments(one, other);
  const exit = flagOption(context, 'exitCode') && changes.length > 0 ? EXIT.found : EXIT.done;
  const names = [from ?? 'service', to ?? 'project'] as const;
  return {
    exit,
    text: printDiff(textOption(context, 'type') ?? 'objects', one, other, changes, names),
    data: { changes: changes.map(changeJson) },
  };
}

function printDiff(
  type: string,
  before: JsonObject,
  after: JsonObject,
  changes: readonly DocumentChange[],
  names: readonly [string, string],
): string {
  if (changes.length === 0) return 'no differences';
  if (type === 'objects') return printChanges(changes);
  if (type === 'json') return `${indented(changes.map(changeJson))}\n`;
  if (type === 'yaml') return stringify(JSON.parse(indented(changes.map(changeJson))), { lineWidth: 0 });
  const [one, other] = [before, after].map((document) => objectOf(withSecretsHidden(document))) as [JsonObject, JsonObject];
  if (canonical(one) === canonical(other)) return 'the differences are in values that look like secrets, which are not shown';
  return unifiedDiff(one, other, names, type === 'unified-yaml' ? printYaml : undefined);
}

function changeJson({ kind, object, source, table, role, access, details, before, after }: DocumentChange): JsonObject {
  const hidden = (value: Json | undefined): Json | undefined => (value === undefined ? undefined : withSecretsHidden(value));
  const all = { kind, object, source, table, role, access, details, before: hidden(before), after: hidden(after) };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined),
  );
}

function inconsistencyJson({ type, name, reason, definition, place }: LocatedInconsistency): JsonObject {
  return {
    type,
    name,
    reason,
    definition: withSecretsHidden(definition),
    ...(place?.file === undefined ? {} : { file: place.file, line: place.line ?? 0 }),
  };
}

/** `svc metadata reload` */
export async function runReload(context: CommandContext): Promise<CommandOutcome> {
  const server = await context.server();
  const [sources, remotes] = [listOption(context, 'source'), listOption(context, 'remoteSchema')];
  const isNarrow = sources.length + remotes.length > 0;
  await server.metadata('reload_metadata', {
    reload_sources: isNarrow ? sources : true,
    reload_remote_schemas: isNarrow ? remotes : true,
    recreate_event_triggers: flagOption(context, 'recreateEventTriggers') ? (isNarrow ? sources : true) : false,
  });
  const found = await listInconsistencies(server, readableMetadata((await context.anyProject()).metadata));
  const problems = problemsOf(found);
  const isConsistent = consistencyOf(context, problems);
  const data = { is_consistent: isConsistent, inconsistencies: found.map(inconsistencyJson) };
  if (isConsistent) return { text: 'reloaded; the metadata is consistent', data };
  return { text: 'reloaded; the metadata is inconsistent', data, exit: EXIT.inconsistent, problems };
}

/** Returns true if no problem is an error, and prints the warnings then. */
function consistencyOf(context: CommandContext, problems: readonly Problem[]): boolean {
  if (errorsIn(problems).length > 0) return false;
  for (const problem of problems) context.warn(printProblem(problem));
  return true;
}

/** `svc metadata clear` */
export async function runClear(context: CommandContext): Promise<CommandOutcome> {
  const server = await context.server();
  if (!(await context.confirm(`This removes all metadata of ${server.endpoint} except the source default.`)))
    throw failure('not-confirmed', 'nothing was removed');
  await server.metadata('clear_metadata', {});
  return { text: 'the metadata was cleared' };
}

/** `svc metadata inconsistency list` */
export async function runInconsistencyList(context: CommandContext): Promise<CommandOutcome> {
  const found = await listInconsistencies(await context.server(), readableMetadata((await context.anyProject()).metadata));
  const lines = found.map((each) => {
    const { file, line } = each.place ?? {};
    return `${file === undefined ? '' : `${file}:${line ?? 1}: `}${titleOf(each)}: ${each.reason}`;
  });
  return {
    exit: found.length > 0 && flagOption(context, 'exitCode') ? EXIT.found : EXIT.done,
    text: found.length === 0 ? 'the metadata is consistent' : lines.join('\n'),
    data: { is_consistent: found.length === 0, inconsistencies: found.map(inconsistencyJson) },
  };
}

/** `svc metadata inconsistency status` */
export async function runInconsistencyStatus(context: CommandContext): Promise<CommandOutcome> {
  const found = await listInconsistencies(await context.server(), null);
  return consistencyOf(context, problemsOf(found))
    ? { text: 'the metadata is consistent', data: { is_consistent: true } }
    : { text: `the metadata is inconsistent: ${counted(found.length, 'object')}`, data: { is_consistent: false }, exit: EXIT.inconsistent };
}

/** `svc metadata inconsistency drop` */
export async function runInconsistencyDrop(context: CommandContext): Promise<CommandOutcome> {
  const server = await context.server();
  const found = await listInconsistencies(server, null);
  if (found.length === 0) return { text: 'the metadata is consistent: nothing was dropped', data: { dropped: [] } };
  const names = found.map(titleOf);
  if (!(await context.confirm(`This removes from the metadata: ${names.join(', ')}.`)))
    throw failure('not-confirmed', 'nothing was removed');
  await server.metadata('drop_inconsistent_metadata', {});
  return { text: `dropped ${names.join(', ')}`, data: { dropped: names } };
}

/** `svc metadata lint` */
export async function runLint(context: CommandContext): Promise<CommandOutcome> {
  const { metadata, files } = await context.project();
  const read = readMetadata(metadata);
  const linted = lintMetadata(metadata, read);
  const problems = [...shapeProblems(read, await context.kinds()), ...linted.problems];
  const clashes = new Map<string, string>();
  for (const path of files.list(join(metadata.folder))) {
    const lower = path.toLowerCase();
    const other = clashes.get(lower);
    if (other !== undefined)
      problems.push({ code: 'case', message: `differs from ${files.show(other)} only in case`, file: files.show(path) });
    clashes.set(lower, path);
  }
  return findingsOutcome(context, problems, linted.accepted);
}

/** The commands of `svc metadata`. */
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import { type MetadataFolder, readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { applyChanges, projectFiles } from '../../project/directory/files.ts';
import { SOURCES_FILE } from '../../project/directory/sections.ts';
import { createNode, newYamlFile, printYamlFile } from '../../project/directory/yaml-file.ts';
import { indented, orphansOf, writeMetadata } from '../../project/directory/write-metadata.ts';
import { diffDocuments, type DocumentChange, printChanges, unifiedDiff } from '../../project/document-diff.ts';
import { normalised, shapeProblems } from '../../project/document.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { inWordsOf } from '../../project/kept-spelling.ts';
import { lintMetadata } from '../../project/lint.ts';
import { openProject } from '../../project/project.ts';
import {
  applyMetadata,
  changesOf,
  exportFrom,
  type Inconsistency,
  titleOf,
  isApplied,
  listInconsistencies,
  problemsOf,
} from '../../project/project-metadata.ts';
import { type Call, flagOption, listOption, type Outcome, textOption } from '../call.ts';
import { findingsOutcome } from './findings.ts';
import { followFiles } from './follow-files.ts';

/** `svc metadata build` */
export async function runBuild(call: Call): Promise<Outcome> {
  const { document } = readMetadata((await call.project()).metadata);
  return { text: printDocument(document, textOption(call, 'output')), data: { metadata: document } };
}

function printDocument(document: JsonObject, format: string | undefined): string {
  return format === 'yaml' ? printYaml(document) : `${indented(document)}\n`;
}

function printYaml(document: JsonObject): string {
  const file = newYamlFile('', '', null);
  file.document.contents = createNode(file, document) as typeof file.document.contents;
  return printYamlFile(file);
}

/** The metadata of the project, its shape checked. @throws ProjectFailure */
async function checkedMetadata(call: Call): Promise<ReadMetadata> {
  const read = readMetadata((await call.project()).metadata);
  const problems = shapeProblems(read, await call.kinds());
  if (problems.length > 0) throw new ProjectFailure(problems);
  return read;
}

/** `svc metadata apply` */
export async function runApply(call: Call): Promise<Outcome> {
  if (flagOption(call, 'allowInconsistent') && flagOption(call, 'disallowInconsistentMetadata'))
    throw failure('usage', '--allow-inconsistent and --disallow-inconsistent-metadata exclude each other', {}, EXIT.usage);
  if (flagOption(call, 'watch')) return watchAndApply(call);
  return applyOnce(call);
}

async function applyOnce(call: Call): Promise<Outcome> {
  const read = await checkedMetadata(call);
  const server = await call.server();
  const kinds = await call.kinds();
  if (flagOption(call, 'dryRun')) {
    const { metadata } = await exportFrom(server);
    const changes = isApplied(read.document, metadata, kinds) ? [] : changesOf(metadata, read.document, kinds);
    return { text: changes.length === 0 ? 'nothing would change' : printChanges(changes), data: { changes: changes.map(changeJson) } };
  }
  const applied = await applyMetadata(read, server, kinds, { allowInconsistent: flagOption(call, 'allowInconsistent') });
  const outcome = { sent: applied.sent, resource_version: applied.resourceVersion, changes: applied.changes.map(changeJson) };
  const head = applied.sent ? `metadata applied, ${counted(applied.changes.length, 'change')}` : 'the service has this metadata already';
  const format = textOption(call, 'output');
  const text = format === undefined ? head : printDocument((await exportFrom(server)).metadata, format);
  if (applied.inconsistencies.length === 0) return { text, data: outcome };
  const isAllowed = flagOption(call, 'allowInconsistent');
  if (isAllowed) for (const { message } of problemsOf(applied.inconsistencies)) call.warn(message);
  return {
    text,
    data: { ...outcome, inconsistencies: applied.inconsistencies.map(inconsistencyJson) },
    ...(isAllowed ? {} : { exit: EXIT.inconsistent, problems: problemsOf(applied.inconsistencies) }),
  };
}

/** Applies once and then after each change, until the process is interrupted. */
async function watchAndApply(call: Call): Promise<Outcome> {
  const { files, metadata } = await call.project();
  const attempt = async (): Promise<void> => {
    try {
      const { text, problems = [] } = await applyOnce(call);
      call.tell([text ?? '', ...problems.map(({ message }) => message)].join('\n'));
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      call.tell(thrown.message);
    }
  };
  await attempt();
  const following = followFiles(files, [metadata.file ?? metadata.folder], attempt, call.tell);
  await new Promise<void>((done) => {
    process.once('SIGINT', done);
    process.once('SIGTERM', done);
  });
  await following.stop();
  return {};
}

/** `svc metadata export` */
export async function runExport(call: Call): Promise<Outcome> {
  const { metadata } = await exportFrom(await call.server());
  const format = textOption(call, 'output');
  if (format !== undefined) return { text: printDocument(metadata, format), data: { metadata } };
  const { metadata: at, files } = await call.project();
  if ((at.overlays ?? []).length > 0)
    throw failure('not-supported', 'an environment with overlays is not exported: the files are those of all environments', {}, EXIT.usage);
  const written = writeMetadata(at, inWordsOf(writtenDocument(at), metadata, await call.kinds()));
  const changes = new Map(written.changes);
  const prune = flagOption(call, 'prune');
  for (const path of written.orphans) {
    if (prune) changes.set(path, null);
    else call.warn(`${files.show(path)} is included by nothing; --prune removes such files`);
  }
  const shown = [...changes].map(([path, text]) => `${text === null ? 'removed' : 'written'} ${files.show(path)}`);
  const data = {
    written: [...changes].filter(([, text]) => text !== null).map(([path]) => files.show(path)),
    removed: [...changes].filter(([, text]) => text === null).map(([path]) => files.show(path)),
  };
  if (flagOption(call, 'check'))
    return {
      exit: changes.size === 0 ? EXIT.done : EXIT.found,
      text: changes.size === 0 ? 'nothing would change' : shown.join('\n'),
      data,
    };
  applyChanges(files, changes);
  return { text: changes.size === 0 ? 'the files say it already' : shown.join('\n'), data };
}

/** Of the files; one without sources where there are none yet. @throws ProjectFailure */
function writtenDocument(at: MetadataFolder): JsonObject {
  const isThere = at.files.read(at.file ?? join(at.folder, SOURCES_FILE)) !== undefined;
  return isThere ? readMetadata(at).document : { version: 3, sources: [] };
}

/** `svc metadata diff` */
export async function runDiff(call: Call): Promise<Outcome> {
  const [to, from] = call.args;
  const kinds = await call.kinds();
  const load = async (named: string): Promise<JsonObject> => {
    const path = resolve(call.cwd, named);
    if (/\.(?:json|ya?ml)$/i.test(path))
      return readMetadata({ files: projectFiles(resolve(path, '..')), folder: resolve(path, '..'), file: path }).document;
    return readMetadata(openProject(call.cwd, { project: path }, call.environment).metadata).document;
  };
  const after = to === undefined ? readMetadata((await call.project()).metadata).document : await load(to);
  const before = from === undefined ? (await exportFrom(await call.server())).metadata : await load(from);
  const [one, other] = [normalised(before, kinds) ?? before, normalised(after, kinds) ?? after];
  const changes = diffDocuments(one, other);
  const exit = flagOption(call, 'exitCode') && changes.length > 0 ? EXIT.found : EXIT.done;
  const names = [from ?? 'service', to ?? 'project'] as const;
  return {
    exit,
    text: printDiff(textOption(call, 'type') ?? 'objects', one, other, changes, names),
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
  return unifiedDiff(before, after, names, type === 'unified-yaml' ? printYaml : undefined);
}

function changeJson({ kind, object, source, table, role, access, details, before, after }: DocumentChange): JsonObject {
  const all = { kind, object, source, table, role, access, details, before, after };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined),
  );
}

function inconsistencyJson({ type, name, reason, definition, place }: Inconsistency): JsonObject {
  return { type, name, reason, definition, ...(place?.file === undefined ? {} : { file: place.file, line: place.line ?? 0 }) };
}

/** `svc metadata reload` */
export async function runReload(call: Call): Promise<Outcome> {
  const server = await call.server();
  const [sources, remotes] = [listOption(call, 'source'), listOption(call, 'remoteSchema')];
  const isNarrow = sources.length + remotes.length > 0;
  await server.metadata('reload_metadata', {
    reload_sources: isNarrow ? sources : true,
    reload_remote_schemas: isNarrow ? remotes : true,
    recreate_event_triggers: flagOption(call, 'recreateEventTriggers') ? (isNarrow ? sources : true) : false,
  });
  return told(await listInconsistencies(server, await projectMetadata(call)), 'reloaded');
}

/** The files, where they can be read: to say where things stand. */
async function projectMetadata(call: Call): Promise<ReadMetadata | null> {
  try {
    return readMetadata((await call.anyProject()).metadata);
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return null;
    throw thrown;
  }
}

function told(inconsistencies: readonly Inconsistency[], done: string): Outcome {
  const data = { is_consistent: inconsistencies.length === 0, inconsistencies: inconsistencies.map(inconsistencyJson) };
  if (inconsistencies.length === 0) return { text: `${done}; the metadata is consistent`, data };
  return { text: `${done}; the metadata is inconsistent`, data, exit: EXIT.inconsistent, problems: problemsOf(inconsistencies) };
}

/** `svc metadata clear` */
export async function runClear(call: Call): Promise<Outcome> {
  const server = await call.server();
  if (!(await call.confirm(`This removes all metadata of ${server.endpoint} but the source default.`)))
    throw failure('not-confirmed', 'nothing was removed');
  await server.metadata('clear_metadata', {});
  return { text: 'the metadata is cleared' };
}

/** `svc metadata inconsistency list` */
export async function runInconsistencyList(call: Call): Promise<Outcome> {
  const found = await listInconsistencies(await call.server(), await projectMetadata(call));
  const lines = found.map((each) => {
    const { file, line } = each.place ?? {};
    return `${file === undefined ? '' : `${file}:${line ?? 1}: `}${titleOf(each)}: ${each.reason}`;
  });
  return {
    exit: found.length > 0 && flagOption(call, 'exitCode') ? EXIT.found : EXIT.done,
    text: found.length === 0 ? 'the metadata is consistent' : lines.join('\n'),
    data: { is_consistent: found.length === 0, inconsistencies: found.map(inconsistencyJson) },
  };
}

/** `svc metadata inconsistency status` */
export async function runInconsistencyStatus(call: Call): Promise<Outcome> {
  const found = await listInconsistencies(await call.server(), null);
  return found.length === 0
    ? { text: 'the metadata is consistent', data: { is_consistent: true } }
    : { text: `the metadata is inconsistent: ${counted(found.length, 'object')}`, data: { is_consistent: false }, exit: EXIT.inconsistent };
}

/** `svc metadata inconsistency drop` */
export async function runInconsistencyDrop(call: Call): Promise<Outcome> {
  const server = await call.server();
  const found = await listInconsistencies(server, null);
  if (found.length === 0) return { text: 'the metadata is consistent: nothing was dropped', data: { dropped: [] } };
  const names = found.map(titleOf);
  if (!(await call.confirm(`This removes from the metadata: ${names.join(', ')}.`))) throw failure('not-confirmed', 'nothing was removed');
  await server.metadata('drop_inconsistent_metadata', {});
  return { text: `dropped ${names.join(', ')}`, data: { dropped: names } };
}

/** `svc metadata lint` */
export async function runLint(call: Call): Promise<Outcome> {
  const { metadata, files } = await call.project();
  const read = readMetadata(metadata);
  const orphans = metadata.file === undefined ? orphansOf(metadata) : [];
  const problems = [...shapeProblems(read, await call.kinds()), ...lintMetadata(read)];
  for (const path of orphans)
    problems.push({ code: 'orphan', message: 'included by nothing', file: files.show(path), severity: 'warning' });
  const clashes = new Map<string, string>();
  for (const path of files.list(join(metadata.folder))) {
    const lower = path.toLowerCase();
    const other = clashes.get(lower);
    if (other !== undefined)
      problems.push({ code: 'case', message: `differs from ${files.show(other)} in case only`, file: files.show(path) });
    clashes.set(lower, path);
  }
  return findingsOutcome(call, problems);
}

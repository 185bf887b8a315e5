/** The commands of `svc documents`. */
import { resolve } from 'node:path';
import { type ManifestDocument, readManifests } from '../../project/documents/manifest.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { ServerError, type ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import { type Json, type JsonObject, objectOf, objectsIn } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, flagOption, listOption, textOption } from '../context.ts';

/** Maximum number of documents of a request, and of characters of their texts. */
const CHUNK_DOCUMENTS = 5000;
const CHUNK_CHARACTERS = 4 * 1024 * 1024;
/** Name of a collection that does not exist yet, as an error of the service. */
const NO_COLLECTION = 'not-exists';

function manifestsOf(context: CommandContext, names: readonly string[]): readonly ManifestDocument[] {
  const paths = names.map((name) => ({ name, path: resolve(context.cwd, name) }));
  return readManifests(paths, { trustIds: flagOption(context, 'trustIds') });
}

/** @throws ProjectFailure */
function scopeOf(context: CommandContext): JsonObject | undefined {
  const roles = textOption(context, 'roles');
  const isGlobal = flagOption(context, 'global');
  if (roles !== undefined && isGlobal) throw failure('usage', '--roles and --global exclude each other', {}, EXIT.usage);
  if (isGlobal) return { global: true };
  return roles === undefined ? undefined : { global: false, roles: roles.split(',').map((role) => role.trim()) };
}

function* chunks(documents: readonly ManifestDocument[]): Iterable<readonly ManifestDocument[]> {
  let chunk: ManifestDocument[] = [];
  let characters = 0;
  for (const document of documents) {
    if (chunk.length === CHUNK_DOCUMENTS || (chunk.length > 0 && characters + document.query.length > CHUNK_CHARACTERS)) {
      yield chunk;
      [chunk, characters] = [[], 0];
    }
    chunk.push(document);
    characters += document.query.length;
  }
  if (chunk.length > 0) yield chunk;
}

interface PushResult {
  readonly added: number;
  readonly known: number;
  readonly invalid: readonly JsonObject[];
}

async function pushTo(server: ServerClient, documents: readonly ManifestDocument[], args: JsonObject): Promise<PushResult> {
  let [added, known] = [0, 0];
  const invalid: JsonObject[] = [];
  for (const chunk of chunks(documents)) {
    const answer = objectOf(await server.metadata('push_documents', { ...args, documents: chunk.map(({ id, query }) => ({ id, query })) }));
    added += Number(answer['added']);
    known += Number(answer['known']);
    invalid.push(...objectsIn(answer['invalid']));
  }
  return { added, known, invalid };
}

function invalidLines(invalid: readonly JsonObject[]): readonly string[] {
  return invalid.map(({ id, role, problems }) => `! ${String(id)}: invalid for the role ${String(role)}: ${textsOf(problems).join('; ')}`);
}

function textsOf(json: Json | undefined): readonly string[] {
  return Array.isArray(json) ? json.map(String) : [];
}

/** `svc documents push` */
export async function runDocumentsPush(context: CommandContext): Promise<CommandOutcome> {
  const documents = manifestsOf(context, context.args);
  const scope = scopeOf(context);
  const isDryRun = flagOption(context, 'dryRun');
  const isAllowed = flagOption(context, 'allowInconsistent');
  const args = {
    collection: textOption(context, 'collection') as string,
    ...(scope === undefined ? {} : { scope }),
    ...(isAllowed ? { allow_inconsistent: true } : {}),
    ...(isDryRun ? { dry_run: true } : {}),
  };
  const server = await context.server();
  let result: PushResult;
  try {
    result = await pushTo(server, documents, args);
  } catch (thrown) {
    if (thrown instanceof ServerError && thrown.code === 'invalid-configuration')
      return { exit: EXIT.inconsistent, problems: thrown.problems };
    throw thrown;
  }
  const { added, known, invalid } = result;
  for (const line of invalidLines(invalid)) context.warn(line.slice(2));
  const verb = isDryRun ? 'would be added' : 'added';
  return {
    text: `${counted(added, 'document')} ${verb}, ${known} known`,
    data: { added, known, invalid: [...invalid] },
    ...(invalid.length > 0 && !isAllowed ? { exit: EXIT.inconsistent } : {}),
  };
}

/** Returns the ids of a collection; none if it does not exist. */
async function storedIds(server: ServerClient, collection: string): Promise<ReadonlySet<string>> {
  try {
    const answer = objectOf(await server.metadata('get_documents', { collection }));
    return new Set(objectsIn(answer['documents']).map(({ id }) => String(id)));
  } catch (thrown) {
    if (thrown instanceof ServerError && thrown.code === NO_COLLECTION) return new Set();
    throw thrown;
  }
}

/** `svc documents diff` */
export async function runDocumentsDiff(context: CommandContext): Promise<CommandOutcome> {
  const documents = manifestsOf(context, context.args);
  const collection = textOption(context, 'collection') as string;
  const server = await context.server();
  const stored = await storedIds(server, collection);
  const ids = new Set(documents.map(({ id }) => id));
  const added = [...ids].filter((id) => !stored.has(id));
  const gone = [...stored].filter((id) => !ids.has(id));
  // Also fails if an id has another text.
  const { invalid } = await pushTo(server, documents, { collection, dry_run: true });
  const lines = [...added.map((id) => `+ ${id}`), ...gone.map((id) => `- ${id}`), ...invalidLines(invalid)];
  return {
    text: lines.length === 0 ? 'the service has the documents of the manifests' : lines.join('\n'),
    data: { added, gone, invalid: [...invalid] },
    ...(lines.length > 0 && flagOption(context, 'exitCode') ? { exit: EXIT.found } : {}),
  };
}

/** `svc documents prune` */
export async function runDocumentsPrune(context: CommandContext): Promise<CommandOutcome> {
  const collection = textOption(context, 'collection') as string;
  const keep = manifestsOf(context, listOption(context, 'keep')).map(({ id }) => id);
  if (keep.length === 0) throw failure('usage', 'the manifests of --keep have no documents, so all would be removed', {}, EXIT.usage);
  const server = await context.server();
  const prune = async (more: JsonObject): Promise<readonly string[]> =>
    textsOf(objectOf(await server.metadata('prune_documents', { collection, keep, ...more }))['removed']);
  const planned = await prune({ dry_run: true });
  if (flagOption(context, 'dryRun') || planned.length === 0) {
    const text = planned.length === 0 ? 'there is nothing to remove' : planned.map((id) => `- ${id}`).join('\n');
    return { text, data: { removed: [...planned] } };
  }
  if (!(await context.confirm(`This removes ${counted(planned.length, 'document')} from the collection ${collection}.`)))
    throw failure('not-confirmed', 'nothing was removed');
  // Documents that were pushed since then stay.
  const removed = await prune({ remove: [...planned] });
  return { text: `${counted(removed.length, 'document')} removed`, data: { removed: [...removed] } };
}

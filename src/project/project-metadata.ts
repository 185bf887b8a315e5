/** Compares the metadata of a project with that of its service, and applies it. */
import { isAboutVariables, SET_VARIABLES } from '../metadata/environment-template.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf } from '../util/json.ts';
import { TYPE_SECTIONS } from './directory/actions-sdl.ts';
import { canonical, printedName } from './directory/sections.ts';
import type { DocumentPath, ReadMetadata } from './directory/read-metadata.ts';
import { diffDocuments, type DocumentChange } from './document-diff.ts';
import { exportedDocument, normalised } from './document.ts';
import { EXIT, failure, type FilePlace, type Problem, ProjectFailure } from './failure.ts';
import { ServerError, type ServerClient } from './server-client.ts';

export interface LocatedInconsistency {
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  /** Details for administrators, such as the error of a connection. */
  readonly detail?: string;
  readonly definition: Json;
  readonly place: FilePlace | undefined;
}

export interface Applied {
  /** False if the service already has the metadata, so that nothing was sent. */
  readonly sent: boolean;
  readonly resourceVersion: number;
  readonly changes: readonly DocumentChange[];
  readonly inconsistencies: readonly LocatedInconsistency[];
}

/** Exports the metadata of the service. @throws ProjectFailure */
export async function exportFrom(server: ServerClient): Promise<{ readonly resourceVersion: number; readonly metadata: JsonObject }> {
  return exportedDocument(await server.metadata('export_metadata', {}, { version: 2 }));
}

/** Returns whether the service already has this document. */
export function isApplied(document: JsonObject, current: JsonObject, kinds: Kinds): boolean {
  if (canonical(document) === canonical(current)) return true;
  const [one, other] = [normalised(document, kinds), normalised(current, kinds)];
  return one !== undefined && other !== undefined && canonical(one) === canonical(other);
}

/** Maximum number of attempts after a conflict: each deployment changes the version once by reloading sources. */
const MAX_ATTEMPTS = 10;

/**
 * Replaces the metadata of the service with that of the project.
 * @param expected version of the metadata for which the document was made
 * @throws ProjectFailure exit 4, and nothing has changed, if objects would be inconsistent and that is not allowed. Tolerated objects are
 *   in the result
 */
export async function applyMetadata(
  read: ReadMetadata,
  server: ServerClient,
  kinds: Kinds,
  { allowInconsistent, expected }: { readonly allowInconsistent: boolean; readonly expected?: number },
  attempts = MAX_ATTEMPTS,
): Promise<Applied> {
  const current = await exportFrom(server);
  const changes = changesOf(current.metadata, read.document, kinds);
  if (isApplied(read.document, current.metadata, kinds)) {
    const inconsistencies = await listInconsistencies(server, read);
    return { sent: false, resourceVersion: current.resourceVersion, changes: [], inconsistencies };
  }
  const args: JsonObject = {
    metadata: read.document,
    allow_inconsistent_metadata: allowInconsistent,
    resource_version: expected ?? current.resourceVersion,
  };
  try {
    const answer = await server.metadata('replace_metadata', args, { version: 2 });
    const records = isJsonObject(answer) && isJsonArray(answer['inconsistent_objects']) ? answer['inconsistent_objects'] : [];
    const inconsistencies = records.flatMap((record) => inconsistencyOf(record, read));
    return { sent: true, resourceVersion: current.resourceVersion + 1, changes, inconsistencies };
  } catch (thrown) {
    if (thrown instanceof ServerError && isConflict(thrown) && expected === undefined) {
      // Another deployment of the same project may have come first.
      const now = await exportFrom(server);
      if (isApplied(read.document, now.metadata, kinds))
        return { sent: false, resourceVersion: now.resourceVersion, changes: [], inconsistencies: await listInconsistencies(server, read) };
      // Another version of the same metadata: sources were reloaded.
      if (attempts > 1 && isApplied(current.metadata, now.metadata, kinds))
        return applyMetadata(read, server, kinds, { allowInconsistent }, attempts - 1);
    }
    if (thrown instanceof ServerError) throw await explained(thrown, read, server, kinds, current);
    throw thrown;
  }
}

function isConflict({ status, code }: ServerError): boolean {
  return status === 409 || code === 'conflict';
}

async function explained(
  error: ServerError,
  read: ReadMetadata,
  server: ServerClient,
  kinds: Kinds,
  seen: { readonly resourceVersion: number; readonly metadata: JsonObject },
): Promise<ProjectFailure> {
  if (isConflict(error)) {
    const now = await exportFrom(server);
    const others = changesOf(seen.metadata, now.metadata, kinds).map(({ kind, object }) => `${kind} ${object}`);
    const list = others.length === 0 ? '' : `: ${others.slice(0, 20).join(', ')}`;
    return failure(
      'conflict',
      `the metadata was changed in the meantime (version ${seen.resourceVersion} -> ${now.resourceVersion})${list}. Review the changes, then run the command again.`,
    );
  }
  const internal = error.answer['internal'];
  if (isJsonArray(internal)) {
    const found = internal.flatMap((record) => inconsistencyOf(record, read));
    if (found.length > 0) return new ProjectFailure(problemsOf(found), EXIT.inconsistent);
  }
  const [problem, ...others] = error.problems;
  const keys = documentPath(problem?.path);
  const place = keys === undefined ? undefined : read.placeOf(keys);
  if (problem === undefined || place === undefined) return error;
  return new ProjectFailure([{ ...problem, ...place }, ...others], error.exit);
}

/** Returns the keys of a path such as `$.args.metadata.sources[0]` below the document. */
function documentPath(printed: string | undefined): DocumentPath | undefined {
  const below = /^\$\.args\.metadata(.*)$/s.exec(printed ?? '')?.[1];
  if (below === undefined) return undefined;
  const keys: (string | number)[] = [];
  for (const [, plain, index, quoted] of below.matchAll(/\.([A-Za-z_][\w-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g))
    keys.push(plain ?? (index === undefined ? (JSON.parse(quoted as string) as string) : Number(index)));
  return keys;
}

/** What would change in the service, both documents as it writes them. */
export function changesOf(current: JsonObject, target: JsonObject, kinds: Kinds): readonly DocumentChange[] {
  return diffDocuments(normalised(current, kinds) ?? current, normalised(target, kinds) ?? target);
}

/** @param read files of the objects; `null` if they are not known */
export async function listInconsistencies(server: ServerClient, read: ReadMetadata | null): Promise<readonly LocatedInconsistency[]> {
  const answer = await server.metadata('get_inconsistent_metadata', {});
  const records = isJsonObject(answer) && isJsonArray(answer['inconsistent_objects']) ? answer['inconsistent_objects'] : [];
  return inconsistenciesIn(records, read);
}

/** Decodes the records of a service. @param read files of the objects; `null` if they are not known */
export function inconsistenciesIn(records: readonly Json[], read: ReadMetadata | null): readonly LocatedInconsistency[] {
  return records.flatMap((record) => inconsistencyOf(record, read));
}

/** Records about permissions that an inherited role does not get: the rest of the metadata works, and the service accepts it. */
const INFORMATIONAL = 'inherited role permission inconsistency';

/** Returns the type and name. Names of permissions and relationships already begin with their type. */
export const titleOf = ({ type, name }: LocatedInconsistency): string => (name.startsWith(`${type} `) ? name : `${type} ${name}`);

/** Maximum number of missing tables of a source that are reported one by one; more become one problem. */
const MAX_MISSING = 3;
/** The records of inconsistent objects have no code. */
const NO_SUCH_TABLE = /no such table\/view exists in source: "/;

function isMissing({ type, reason }: Pick<LocatedInconsistency, 'type' | 'reason'>): boolean {
  return type === 'table' && NO_SUCH_TABLE.test(reason);
}

/** Returns whether a record of a service is about a table that does not exist in its source. */
export function isMissingTable(record: Json): boolean {
  return isJsonObject(record) && isMissing({ type: String(record['type']), reason: String(record['reason']) });
}

/**
 * Returns a problem for each inconsistency, and a single one for many missing tables of one source. Those with which the service accepts the
 * metadata are warnings.
 */
export function problemsOf(found: readonly LocatedInconsistency[]): readonly Problem[] {
  const missing = new Map<string, LocatedInconsistency[]>();
  for (const each of found) {
    if (!isMissing(each)) continue;
    const source = String((isJsonObject(each.definition) ? each.definition['source'] : undefined) ?? 'default');
    missing.set(source, [...(missing.get(source) ?? []), each]);
  }
  const folded = new Map([...missing].filter(([, list]) => list.length > MAX_MISSING));
  const inFolded = new Set([...folded.values()].flat());
  const others = found.filter((each) => !inFolded.has(each)).map(problemOf);
  return [
    ...[...folded].map(([source, list]): Problem => {
      const named = list.slice(0, MAX_MISSING).map(({ name }) => name.replace(/^table /, ''));
      return {
        code: 'inconsistent',
        message: `${list.length} tables do not exist in ${source}: ${named.join(', ')} and ${list.length - MAX_MISSING} more`,
        ...(list[0]?.place ?? {}),
      };
    }),
    ...others,
  ];
}

function problemOf(found: LocatedInconsistency): Problem {
  const remedy = isAboutVariables(found.reason) ? `. ${SET_VARIABLES}` : '';
  const severity = found.type === INFORMATIONAL ? ({ severity: 'warning' } as const) : {};
  const detail = found.type === 'source' && found.detail !== undefined ? `: ${found.detail}` : '';
  return { code: 'inconsistent', message: `${titleOf(found)}: ${found.reason}${detail}${remedy}`, ...severity, ...(found.place ?? {}) };
}

function inconsistencyOf(record: Json, read: ReadMetadata | null): readonly LocatedInconsistency[] {
  if (!isJsonObject(record)) return [];
  const reason = String(record['reason'] ?? '');
  if (isJsonArray(record['objects']))
    return record['objects'].flatMap((object) => (isJsonObject(object) ? inconsistencyOf({ ...object, reason }, read) : []));
  const definition = record['definition'] ?? null;
  const type = String(record['type'] ?? 'object');
  const name =
    record['name'] === undefined
      ? printedName(definition)
      : typeof record['name'] === 'string'
        ? record['name']
        : printedName(record['name'] as Json);
  const detail = typeof record['message'] === 'string' ? { detail: record['message'] } : {};
  return [
    { type, name, reason, ...detail, definition, place: read === null ? undefined : findObject(read, { type, name, definition, reason }) },
  ];
}

const LISTS: Readonly<Record<string, readonly string[]>> = {
  table: [],
  insert_permission: ['insert_permissions', 'role'],
  select_permission: ['select_permissions', 'role'],
  update_permission: ['update_permissions', 'role'],
  delete_permission: ['delete_permissions', 'role'],
  object_relation: ['object_relationships', 'name'],
  array_relation: ['array_relationships', 'name'],
  remote_relationship: ['remote_relationships', 'name'],
  computed_field: ['computed_fields', 'name'],
  event_trigger: ['event_triggers', 'name'],
};

/** Returns the place of an inconsistent object in the files. */
function findObject(read: ReadMetadata, { type, name, definition, reason }: Omit<LocatedInconsistency, 'place'>): FilePlace | undefined {
  const sources = read.document['sources'];
  const isItem = (item: Json, key: string, value: Json | undefined): boolean =>
    isJsonObject(item) && value !== undefined && printedName(item[key] ?? null) === printedName(value);
  const object = objectOf(definition);
  if (type === 'source') return indexed(read, ['sources'], 'name', typeof definition === 'string' ? definition : object['name']);
  if (type === INFORMATIONAL) return indexed(read, ['inherited_roles'], 'role_name', name);
  if (type === 'remote_schema') return indexed(read, ['remote_schemas'], 'name', object['name']);
  if (type === 'action') return indexed(read, ['actions'], 'name', object['name']);
  if (type === 'cron_trigger') return indexed(read, ['cron_triggers'], 'name', object['name']);
  if (type === 'rest_endpoint') return indexed(read, ['rest_endpoints'], 'name', object['name']);
  if (type === 'custom_types') return customType(read, reason);
  if (!isJsonArray(sources)) return undefined;
  const list = LISTS[type];
  for (const [s, source] of sources.entries()) {
    if (!isJsonObject(source) || !isJsonArray(source['tables'])) continue;
    if (object['source'] !== undefined && source['name'] !== object['source']) continue;
    const named = object['table'] ?? definition;
    for (const [t, table] of source['tables'].entries()) {
      const isTable =
        isItem(table, 'table', named) || isItem(table, 'table', typeof named === 'string' ? { schema: 'public', name: named } : named);
      if (!isTable || !isJsonObject(table)) continue;
      const path: DocumentPath = ['sources', s, 'tables', t];
      const [key, member] = list ?? [];
      if (key === undefined || member === undefined) return read.placeOf(path);
      const items = table[key];
      const index = isJsonArray(items) ? items.findIndex((item) => isItem(item, member, object[member])) : -1;
      return read.placeOf(index < 0 ? path : [...path, key, index]);
    }
  }
  return undefined;
}

/** Returns the place of the first custom type that the reason names, or of all custom types. */
function customType(read: ReadMetadata, reason: string): FilePlace | undefined {
  const quoted = [...reason.matchAll(/["'](\w+)["']/g)].map(([, name]) => name);
  for (const name of quoted)
    for (const section of TYPE_SECTIONS) {
      const place = indexed(read, ['custom_types', section], 'name', name);
      if (place !== undefined) return place;
    }
  return read.placeOf(['custom_types']);
}

function indexed(read: ReadMetadata, path: readonly string[], key: string, value: Json | undefined): FilePlace | undefined {
  const list = path.reduce<Json | undefined>((json, step) => (isJsonObject(json) ? json[step] : undefined), read.document);
  const index = isJsonArray(list) ? list.findIndex((item) => isJsonObject(item) && item[key] === value) : -1;
  return index < 0 ? undefined : read.placeOf([...path, index]);
}

/**
 * Ids of documents in requests: `documentId` of GraphQL over HTTP, `doc_id` of Relay, and `extensions.persistedQuery` of Apollo. This file
 * alone reads their syntax, because the first of them is still a draft.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { along, at, type Path, ROOT } from '../util/path.ts';

export interface DocumentReference {
  readonly via: 'documentId' | 'doc_id' | 'persistedQuery';
  readonly id: string;
}

/** Maximum length of an id, in characters. */
const MAX_ID = 256;
const NAME = /^[A-Za-z0-9._~-]+$/;
const HASH = /^sha256:[0-9a-f]{64}$/;
const CUSTOM = /^x-[A-Za-z0-9._~-]+:[A-Za-z0-9._~:-]+$/;

/** Path of errors of persisted queries. */
export const PERSISTED_QUERY_PATH = along(ROOT, 'extensions', 'persistedQuery');
/** Path of errors of ids, also of those under `doc_id`. */
export const DOCUMENT_ID_PATH = at(ROOT, 'documentId');

function invalid(message: string, path: Path): SvcError {
  return new SvcError('bad-request', message, { path, keepsStatus: true });
}

const NONE: readonly DocumentReference[] = [];

/** Decodes the ids of a request; null counts as absent. @throws SvcError bad-request for an id that is not one */
export function decodeReferences(json: JsonObject): readonly DocumentReference[] {
  if (json['documentId'] === undefined && json['doc_id'] === undefined && json['extensions'] === undefined) return NONE;
  const references: DocumentReference[] = [];
  for (const via of ['documentId', 'doc_id'] as const) {
    const id = json[via];
    if (id === undefined || id === null) continue;
    references.push({ via, id: decodeId(id, at(ROOT, via)) });
  }
  const { extensions } = json;
  const persisted = isJsonObject(extensions) ? extensions['persistedQuery'] : undefined;
  if (persisted !== undefined && persisted !== null) references.push({ via: 'persistedQuery', id: decodePersisted(persisted) });
  return references;
}

function decodeId(id: Json, path: Path): string {
  if (typeof id !== 'string') throw invalid('the id of a document is a text', path);
  const problem = idProblem(id);
  if (problem !== null) throw invalid(problem, path);
  return id;
}

/** Returns the reason why requests cannot send an id as `documentId`; `null` if they can. */
export function idProblem(id: string): string | null {
  if (id.length > MAX_ID) return `the id of a document has at most ${MAX_ID} characters`;
  if (NAME.test(id) || HASH.test(id) || CUSTOM.test(id)) return null;
  return 'the id of a document has only letters, digits and ._~-, or is sha256: with 64 lower-case hexadecimal digits, or x-<name>: with an id';
}

function decodePersisted(json: Json): string {
  if (!isJsonObject(json)) throw invalid('expected an object with version and sha256Hash', PERSISTED_QUERY_PATH);
  const { version, sha256Hash } = json;
  if (version !== 1) throw invalid('Unsupported persisted query version', PERSISTED_QUERY_PATH);
  if (typeof sha256Hash !== 'string' || sha256Hash === '') throw invalid('expected a text as sha256Hash', PERSISTED_QUERY_PATH);
  if (sha256Hash.length > MAX_ID) throw invalid(`sha256Hash has at most ${MAX_ID} characters`, PERSISTED_QUERY_PATH);
  return sha256Hash;
}

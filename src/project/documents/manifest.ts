/**
 * Manifests of documents that the compilers of clients write: of Apollo (`generate-persisted-query-manifest`, Apollo Kotlin), and the map
 * from ids to texts of Relay and GraphQL Code Generator. Texts stay as they are, byte by byte, because ids are often their hashes.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../util/json.ts';
import { EXIT, failure, type Problem, ProjectFailure, reasonOf } from '../failure.ts';

export interface ManifestDocument {
  readonly id: string;
  readonly query: string;
  /** Name of the file. */
  readonly file: string;
}

export interface ManifestOptions {
  /** Do not compare ids that look like hashes with the texts. */
  readonly trustIds: boolean;
}

/** Maximum size of a manifest, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum number of documents of all manifests. */
const MAX_DOCUMENTS = 20_000;
/** Maximum length of an id, in characters. */
const MAX_ID = 256;
const APOLLO = 'apollo-persisted-query-manifest';
/** Hash algorithms by the number of hexadecimal digits of an id. */
const ALGORITHMS: ReadonlyMap<number, string> = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
]);

/**
 * Reads manifests; equal entries of several are one.
 * @param paths absolute paths with their names for messages
 * @throws ProjectFailure with all problems
 */
export function readManifests(
  paths: readonly { readonly path: string; readonly name: string }[],
  options: ManifestOptions,
): readonly ManifestDocument[] {
  const documents = new Map<string, ManifestDocument>();
  const problems: Problem[] = [];
  for (const { path, name } of paths) {
    for (const document of readManifest(path, name)) {
      const problem = problemOf(document, documents.get(document.id), options);
      if (problem === undefined) documents.set(document.id, document);
      else problems.push({ code: 'manifest', message: problem, file: name });
    }
  }
  if (documents.size > MAX_DOCUMENTS)
    problems.push({ code: 'manifest', message: `the manifests have ${documents.size} documents; at most ${MAX_DOCUMENTS} are possible` });
  if (problems.length > 0) throw new ProjectFailure(problems, EXIT.failed);
  return [...documents.values()];
}

function problemOf(
  { id, query }: ManifestDocument,
  known: ManifestDocument | undefined,
  { trustIds }: ManifestOptions,
): string | undefined {
  if (id === '' || id.length > MAX_ID) return `the id "${id.slice(0, 40)}…" has not between 1 and ${MAX_ID} characters`;
  if (known !== undefined && known.query !== query) return `the id "${id}" has another text in ${known.file}`;
  const algorithm = /^[0-9a-f]+$/.test(id) ? ALGORITHMS.get(id.length) : undefined;
  if (trustIds || algorithm === undefined || createHash(algorithm).update(query).digest('hex') === id) return undefined;
  return `the id "${id}" is not the ${algorithm} of its text; with --trust-ids, ids are not compared`;
}

function readManifest(path: string, name: string): readonly ManifestDocument[] {
  const json = parsed(textOf(path, name), name);
  if (isJsonObject(json) && json['format'] !== undefined) return apolloDocuments(json, name);
  if (!isJsonObject(json) || Object.values(json).some((text) => typeof text !== 'string'))
    throw malformed(
      'this is no manifest: expected that of Apollo, or an object of texts by id, as Relay and GraphQL Code Generator write it',
      name,
    );
  return Object.entries(json).map(([id, query]) => ({ id, query: query as string, file: name }));
}

function malformed(message: string, file: string): ProjectFailure {
  return failure('manifest', message, { file });
}

function textOf(path: string, name: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw malformed(`the manifest is larger than ${MAX_BYTES / 2 ** 20} MiB`, name);
    // A byte order mark is part of the file, not of the JSON.
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) throw thrown;
    throw failure('missing-file', `the manifest cannot be read: ${reasonOf(thrown)}`, { file: name }, EXIT.usage);
  }
}

function parsed(text: string, name: string): Json {
  try {
    return parseJson(text);
  } catch (thrown) {
    throw malformed(`the manifest is not JSON: ${reasonOf(thrown)}`, name);
  }
}

function apolloDocuments({ format, version, operations }: JsonObject, name: string): readonly ManifestDocument[] {
  if (format !== APOLLO || version !== 1) throw malformed(`expected the format ${APOLLO}, version 1`, name);
  if (!isJsonArray(operations ?? null)) throw malformed('the key operations is not a list', name);
  return (operations as readonly Json[]).map((operation, i) => {
    const { id, body } = isJsonObject(operation) ? operation : {};
    if (typeof id !== 'string' || typeof body !== 'string') throw malformed(`operations[${i}] has no texts id and body`, name);
    return { id, query: body, file: name };
  });
}

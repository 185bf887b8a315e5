/** The document of a project, checked and written as the service would write it. */
import { UnknownKeysError } from '../metadata/unknown-keys.ts';
import { withRules } from '../metadata/decode-rules.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { metadataCodec } from '../metadata/metadata.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { DocumentPath, ReadMetadata } from './directory/read-metadata.ts';
import { failure, type Problem } from './failure.ts';

/** The keys from the root to a place. */
export function keysOf(path: Path): DocumentPath {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place?.parent !== undefined; place = place.parent) keys.push(place.key);
  return keys.reverse();
}

/**
 * The document as the service would export it: what is left out of exports left out, spellings made one.
 * Keys that are not known are kept. undefined: the shape is wrong.
 */
export function normalised(document: JsonObject, kinds: Kinds): JsonObject | undefined {
  const codec = metadataCodec(kinds);
  try {
    const made = codec.encode(codec.decode(document, ROOT));
    return isJsonObject(made) ? made : undefined;
  } catch (thrown) {
    if (thrown instanceof SvcError) return undefined;
    throw thrown;
  }
}

/** What is wrong with the shape of the document, with the places in the files: the first error of a wrong shape, all unknown keys. */
export function shapeProblems(read: ReadMetadata, kinds: Kinds): readonly Problem[] {
  const codec = metadataCodec(kinds);
  try {
    const decoded = codec.decode(read.document, ROOT);
    const problems: Problem[] = [];
    collectUnknown(decoded, problems, new Set());
    if (problems.length === 0) return [];
    // With its place: the first of them.
    try {
      codec.decode(read.document, withRules(ROOT, { refusesUnknown: true }));
    } catch (thrown) {
      if (thrown instanceof UnknownKeysError) {
        const [first, ...others] = problems;
        return [problemAt(read, thrown), ...others.filter((each) => each !== first)];
      }
    }
    return problems;
  } catch (thrown) {
    if (thrown instanceof SvcError) return [problemAt(read, thrown)];
    throw thrown;
  }
}

function problemAt(read: ReadMetadata, error: SvcError): Problem {
  const keys = keysOf(error.path);
  return { code: error.code, message: error.message, path: error.printedPath, ...(read.placeOf(keys) ?? {}) };
}

function collectUnknown(value: unknown, problems: Problem[], seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if ('unknownKeys' in value && Array.isArray(value.unknownKeys))
    for (const { complaint } of value.unknownKeys as readonly { readonly complaint: string }[])
      problems.push({ code: 'unknown-key', message: complaint });
  const inside = value instanceof Map ? value.values() : Object.values(value);
  for (const item of inside) collectUnknown(item, problems, seen);
}

/** @throws ProjectFailure when what a server answers to an export is not that */
export function exportedDocument(answer: unknown): { readonly resourceVersion: number; readonly metadata: JsonObject } {
  const answered = answer as JsonObject | null;
  if (answered !== null && isJsonObject(answered) && isJsonObject(answered['metadata']) && typeof answered['resource_version'] === 'number')
    return { resourceVersion: answered['resource_version'], metadata: answered['metadata'] };
  throw failure('server', 'the service answers to export_metadata with something else; is it another service, or a very old one?');
}

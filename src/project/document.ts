/** Checks the document of a project, and converts it to the form of the service. */
import { UnknownKeysError } from '../metadata/unknown-keys.ts';
import { withRules } from '../metadata/decode-rules.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { metadataCodec } from '../metadata/metadata.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { DocumentPath, ReadMetadata } from './directory/read-metadata.ts';
import { EXIT, failure, type Problem } from './failure.ts';

/** Returns the keys from the root to a place. */
export function keysOf(path: Path): DocumentPath {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = path; place?.parent !== undefined; place = place.parent) keys.push(place.key);
  return keys.reverse();
}

/** Returns the document as the service would export it, with unknown keys; `undefined` if its shape is invalid. */
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

/** Returns problems of the document's shape with their places: the first invalid value, or all unknown keys. */
export function shapeProblems(read: ReadMetadata, kinds: Kinds): readonly Problem[] {
  const codec = metadataCodec(kinds);
  try {
    const decoded = codec.decode(read.document, ROOT);
    const problems: Problem[] = [];
    collectUnknown(decoded, problems, new Set());
    if (problems.length === 0) return [];
    // Decode again for the place of the first one.
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
  const message = [error.message, ...error.remedies].join('. ');
  return { code: error.code, message, path: error.printedPath, ...(read.placeOf(keys) ?? {}) };
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

/** Decodes the answer of an export. @throws ProjectFailure if it is invalid */
export function exportedDocument(answer: unknown): { readonly resourceVersion: number; readonly metadata: JsonObject } {
  const json = answer as JsonObject | null;
  if (json !== null && isJsonObject(json) && isJsonObject(json['metadata']) && typeof json['resource_version'] === 'number')
    return { resourceVersion: json['resource_version'], metadata: json['metadata'] };
  const message = 'the answer to export_metadata is invalid: check that --endpoint is the address of svc, in a current version';
  throw failure('server', message, {}, EXIT.unreachable);
}

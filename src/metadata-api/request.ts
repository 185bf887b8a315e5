/** Decodes a whole administration request before any of it runs, so that a mistake in the last element of a bulk changes nothing. */
import { SvcError } from '../errors/svc-error.ts';
import { int, parseFailed, text, wrongType } from '../metadata/codec.ts';
import { refuseUnknownKeys } from '../metadata/unknown-keys.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import type { OperationEntry, Prepared } from './operation.ts';

/** `stop`: the first failure undoes all changes. The others are named like their operations. */
export type BulkMode = 'stop' | 'keep-going' | 'atomic' | 'concurrent';

/** Decoded operation or bulk. `path` is that of execution errors: `$.args`, `$.args[i].args`. */
export type AdministrationCommand =
  | { readonly kind: 'operation'; readonly prepared: Prepared; readonly path: Path }
  | { readonly kind: 'bulk'; readonly mode: BulkMode; readonly items: readonly AdministrationCommand[]; readonly path: Path };

export interface AdministrationRequest {
  readonly command: AdministrationCommand;
  /** Version of the metadata that the client expects. */
  readonly resourceVersion: number | undefined;
}

/** Request format of one endpoint. */
export interface Language {
  readonly bulks: ReadonlyMap<string, BulkMode>;
  /** @param version version of the arguments @param path path of the request or bulk element @throws SvcError `parse-failed` */
  find(type: string, version: 1 | 2, path: Path): OperationEntry;
  /** True if paths of argument errors contain the key `args`. */
  readonly argsInParsePath: boolean;
  /** True if argument errors of operations with a prefix name the operation. */
  readonly namesOperationInErrors: boolean;
  /** Keys other than `type` and `args` that are accepted without effect. */
  readonly idleKeys: readonly string[];
}

const ELEMENT = ['type', 'args', 'version'];
const REQUEST = [...ELEMENT, 'resource_version'];
const SEND_BULK = 'Send a list of operations as {"type": "bulk", "args": [...]}.';

/** @throws SvcError `parse-failed` */
export function decodeAdministration(body: Json, language: Language): AdministrationRequest {
  if (!isJsonObject(body)) throw wrongType('Object', 'Object', body, ROOT).withRemedies(isJsonArray(body) ? [SEND_BULK] : []);
  const command = decodeCommand(body, language, ROOT, ROOT, REQUEST);
  const version = body['resource_version'];
  const resourceVersion = version === undefined || version === null ? undefined : int.decode(version, at(ROOT, 'resource_version'));
  return { command, resourceVersion };
}

/** Decodes the elements of a `bulk`. @param path path of the list @throws SvcError `parse-failed` */
export function decodeCommands(elements: readonly Json[], language: Language, path: Path): AdministrationCommand {
  const items = elements.map((item, i) => {
    if (!isJsonObject(item)) throw wrongType('Object', 'Object', item, at(path, i));
    return decodeCommand(item, language, at(path, i), at(path, i), ELEMENT);
  });
  return { kind: 'bulk', mode: 'stop', items, path };
}

function decodeCommand(
  body: JsonObject,
  language: Language,
  parsePath: Path,
  runPath: Path,
  keys: readonly string[],
): AdministrationCommand {
  refuseUnknownKeys(body, parsePath, { keys: [...keys, ...language.idleKeys] });
  const type = text.decode(keyOf(body, 'type', parsePath), at(parsePath, 'type'));
  const version = decodeVersion(body['version'], at(parsePath, 'version'));
  const mode = language.bulks.get(type);
  const entry = mode === undefined ? language.find(type, version, parsePath) : undefined;
  const args = keyOf(body, 'args', parsePath);
  const argsPath = language.argsInParsePath ? at(parsePath, 'args') : parsePath;
  const path = at(runPath, 'args');
  if (entry !== undefined) return { kind: 'operation', prepared: prepare(entry, args, argsPath, language.namesOperationInErrors), path };
  if (!isJsonArray(args)) throw wrongType('[]', 'Array', args, argsPath);
  const items = args.map((item, i) => {
    if (!isJsonObject(item)) throw wrongType('Object', 'Object', item, at(argsPath, i));
    return decodeCommand(item, language, at(argsPath, i), at(path, i), ELEMENT);
  });
  return { kind: 'bulk', mode: mode as BulkMode, items, path };
}

function keyOf(body: JsonObject, key: string, path: Path): Json {
  const value = Object.hasOwn(body, key) ? body[key] : undefined;
  if (value === undefined) throw parseFailed(`the key '${key}' was not present`, path);
  return value;
}

function decodeVersion(json: Json | undefined, path: Path): 1 | 2 {
  if (json === undefined || json === null) return 1;
  const version = int.decode(json, path);
  if (version !== 1 && version !== 2) throw parseFailed(`expected 1 or 2, encountered ${version}`, path);
  return version;
}

function prepare(entry: OperationEntry, args: Json, path: Path, namesOperation: boolean): Prepared {
  try {
    return entry.prepare(args, path);
  } catch (thrown) {
    if (!namesOperation || entry.unprefixed === undefined || !(thrown instanceof SvcError) || thrown.code !== 'parse-failed') throw thrown;
    const lines = [
      `Error when parsing command ${entry.unprefixed}.`,
      'See docs/reference/metadata-api.md for its arguments.',
      `Internal error message: ${thrown.message}`,
    ];
    throw parseFailed(lines.join('\n'), thrown.path);
  }
}

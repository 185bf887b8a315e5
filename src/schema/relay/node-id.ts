/** Node ids of the request: base64 of `[1, schema, table, value, …]`, or of `[3, source, schema, table, value, …]`. */
import { Buffer } from 'node:buffer';
import type { SvcError } from '../../errors/svc-error.ts';
import { MAX_OPAQUE_TEXT } from '../../graphql-engine/opaque-text.ts';
import type { InputValue, OpaqueInput } from '../../graphql-engine/types.ts';
import { describeJson } from '../../metadata/codec.ts';
import { isJsonArray, isJsonNumber, type Json, type JsonNumber, numberText, printJson } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import { invalid } from '../fields/input.ts';
import type { NodeColumn } from '../fields/role-table.ts';

export interface NodeId {
  /** Name of the source; null in version 1. */
  readonly source: string | null;
  readonly schema: string;
  readonly table: string;
  /** Number of items before the values. */
  readonly offset: number;
  readonly values: readonly Json[];
  readonly part: OpaqueInput['part'];
}

/** Maximum characters of an invalid id in its error. */
const SHOWN = 100;

/** @throws SvcError validation-failed at the argument */
export function readNodeId(input: InputValue): NodeId {
  const { text, json, part } = input.opaque();
  const failed = (reason: string): SvcError => invalid(`invalid node id: Error in $: ${reason}`, input.path);
  if (json === undefined) throw failed(`Failed reading: not a valid json value at '${decoded(text)}'`);
  if (!isJsonArray(json)) throw failed(`parsing node id failed, expected Array, but encountered ${describeJson(json)}`);
  const [version, ...rest] = json;
  if (!isJsonNumber(version)) throw failed('unexpected GUID format, needs to start with a version number');
  if (version !== 1 && version !== 3) throw failed(`unsupported GUID version: ${printVersion(version)}`);
  const names = version === 1 ? 2 : 3;
  const [source, schema, table] = version === 1 ? [null, ...rest] : rest;
  if (rest.length <= names || typeof schema !== 'string' || typeof table !== 'string' || (source !== null && typeof source !== 'string')) {
    const what = version === 1 ? 'schema name, table name' : 'source name, schema name, table name';
    throw failed(`GUID version ${version}: expecting ${what} and at least one column value`);
  }
  return { source: source ?? null, schema, table, offset: 1 + names, values: rest.slice(names), part };
}

function decoded(text: Json): string {
  if (typeof text !== 'string' || text.length > MAX_OPAQUE_TEXT) return '…';
  const bytes = Buffer.from(text, 'base64').toString('latin1');
  return bytes.length > SHOWN ? `${bytes.slice(0, SHOWN)}…` : bytes;
}

/** A whole number with a decimal, as the error of other servers has it. */
function printVersion(version: number | JsonNumber): string {
  const text = numberText(version);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** @throws SvcError validation-failed if the id has not as many values as the key has columns */
export function checkValues({ values }: NodeId, key: readonly NodeColumn[], path: Path): void {
  if (values.length < key.length) {
    const names = key.slice(values.length).map(({ name }) => `'${name}'`);
    throw invalid(`invalid node id: primary key columns [${names.join(', ')}] are missing`, path);
  }
  if (values.length > key.length) {
    const more = values.slice(key.length).map(printJson);
    throw invalid(`invalid node id: unexpected column values [${more.join(', ').slice(0, SHOWN)}]`, path);
  }
}

/** Returns the value at a place of an id. */
export function valueOfId(id: Json, index: number): Json {
  return (isJsonArray(id) ? id[index] : undefined) ?? null;
}

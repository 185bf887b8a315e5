/** Operations of the metadata API. All changes go through `runSteps`. */
import { isReadOnly, READ_ONLY_REASON } from './settings.ts';
import { Failure } from './failure.ts';
import { sendAsAdmin } from './http.ts';
import { bulkOf, type Step } from '../model/steps.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type Changes, KIND_OPERATIONS, OPERATIONS } from './operations.generated.ts';

type CommonOperation = keyof typeof OPERATIONS;
type KindOperation = keyof typeof KIND_OPERATIONS;

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly version?: 2;
}

/** Returns what an operation changes; undefined for unknown operations. */
export function changesOf(type: string): Changes | undefined {
  if (Object.hasOwn(OPERATIONS, type)) return OPERATIONS[type as CommonOperation];
  const [kind, ...rest] = type.split('_');
  const name = rest.join('_');
  if (!Object.hasOwn(KIND_OPERATIONS, name)) return undefined;
  const [changes, kinds] = KIND_OPERATIONS[name as KindOperation];
  return kinds.split(' ').includes(kind ?? '') ? changes : undefined;
}

/** Returns true if sources of the kind have the operation. */
export function hasOperation(kind: string, name: KindOperation): boolean {
  return KIND_OPERATIONS[name][1].split(' ').includes(kind);
}

/** Runs an operation that changes nothing. @throws Failure */
export function readOperation(type: CommonOperation, args: Json = {}, { signal, version }: ReadOptions = {}): Promise<Json> {
  if (OPERATIONS[type] !== 'nothing') throw new Error(`${type} is not a read operation`);
  return sendAsAdmin('v1/metadata', { body: { type, ...(version === undefined ? {} : { version }), args }, signal, retries: 2 });
}

/** Runs an operation of a database kind that changes nothing. @throws Failure */
export function readKindOperation(kind: string, name: KindOperation, args: Json, { signal }: ReadOptions = {}): Promise<Json> {
  if (KIND_OPERATIONS[name][0] !== 'nothing') throw new Error(`${name} is not a read operation`);
  return sendAsAdmin('v1/metadata', { body: { type: `${kind}_${name}`, args }, signal, retries: 2 });
}

/** Runs all steps or none. @param resourceVersion rejects the steps for any other version @throws Failure */
export function runSteps(steps: readonly Step[], resourceVersion?: number, signal?: AbortSignal): Promise<Json> {
  if (isReadOnly && steps.some(({ type }) => changesOf(type) !== 'nothing')) {
    throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  }
  return sendAsAdmin('v1/metadata', { body: bulkOf(steps, resourceVersion), signal });
}

/** Runs SQL as administrator. @throws Failure */
export async function runSql(kind: string, args: JsonObject, signal?: AbortSignal): Promise<Json> {
  if (isReadOnly && args['read_only'] !== true) throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  const type = `${kind}_run_sql`;
  return sendAsAdmin('v2/query', { body: { type, args }, signal });
}

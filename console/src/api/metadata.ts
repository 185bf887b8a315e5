/** Operations of the metadata API. All changes go through `runSteps`. */
import { isReadOnly, READ_ONLY_REASON } from './settings.ts';
import { Failure } from './failure.ts';
import { sendAsAdmin } from './http.ts';
import { requestOf, type Step } from '../model/steps.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { changesOf, type CommonOperation, type KindOperation } from './operation-names.ts';
import { KIND_OPERATIONS, OPERATIONS } from './operations.generated.ts';

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly version?: 2;
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

interface ChangeOptions {
  /** Rejects the steps for any other version. */
  readonly resourceVersion?: number | undefined;
  /** Request with the steps, as the user wrote it. */
  readonly written?: JsonObject | undefined;
}

/** Runs all steps or none. @throws Failure */
export function runSteps(steps: readonly Step[], { resourceVersion, written }: ChangeOptions = {}): Promise<Json> {
  if (isReadOnly && steps.some(({ type }) => changesOf(type) !== 'nothing')) {
    throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  }
  return sendAsAdmin('v1/metadata', { body: requestOf(steps, resourceVersion, written) });
}

/** Runs SQL as administrator. @throws Failure */
export async function runSql(kind: string, args: JsonObject, signal?: AbortSignal): Promise<Json> {
  if (isReadOnly && args['read_only'] !== true) throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  const type = `${kind}_run_sql`;
  return sendAsAdmin('v2/query', { body: { type, args }, signal });
}

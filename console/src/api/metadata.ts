/** Operations of the service: reads, and the one gate through which everything is changed. */
import { isReadOnly, READ_ONLY_REASON } from './settings.ts';
import { Failure } from './failure.ts';
import { administer } from './http.ts';
import { bulkOf, type Step } from '../model/steps.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type Changes, KIND_OPERATIONS, OPERATIONS } from './operations.generated.ts';

type CommonOperation = keyof typeof OPERATIONS;
type KindOperation = keyof typeof KIND_OPERATIONS;

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  readonly version?: 2;
}

/** What an operation changes; undefined for those that the service does not have. */
export function changesOf(type: string): Changes | undefined {
  if (Object.hasOwn(OPERATIONS, type)) return OPERATIONS[type as CommonOperation];
  const [kind, ...rest] = type.split('_');
  const name = rest.join('_');
  if (!Object.hasOwn(KIND_OPERATIONS, name)) return undefined;
  const [changes, kinds] = KIND_OPERATIONS[name as KindOperation];
  return kinds.split(' ').includes(kind ?? '') ? changes : undefined;
}

/** Whether sources of the kind have an operation. */
export function hasOperation(kind: string, name: KindOperation): boolean {
  return KIND_OPERATIONS[name][1].split(' ').includes(kind);
}

/** An operation that changes nothing. @throws Failure */
export function ask(type: CommonOperation, args: Json = {}, { signal, version }: ReadOptions = {}): Promise<Json> {
  if (OPERATIONS[type] !== 'nothing') throw new Error(`${type} is not a read`);
  return administer('v1/metadata', { body: { type, ...(version === undefined ? {} : { version }), args }, signal, retries: 2 });
}

/** As `ask`, of a kind of databases. @throws Failure */
export function askKind(kind: string, name: KindOperation, args: Json, { signal }: ReadOptions = {}): Promise<Json> {
  if (KIND_OPERATIONS[name][0] !== 'nothing') throw new Error(`${name} is not a read`);
  return administer('v1/metadata', { body: { type: `${kind}_${name}`, args }, signal, retries: 2 });
}

/** Sends a change: all steps or none, and only on top of `resourceVersion` when that is given. @throws Failure */
export function perform(steps: readonly Step[], resourceVersion?: number, signal?: AbortSignal): Promise<Json> {
  if (isReadOnly && steps.some(({ type }) => changesOf(type) !== 'nothing')) {
    throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  }
  return administer('v1/metadata', { body: bulkOf(steps, resourceVersion), signal });
}

/** SQL, as an administrator. @throws Failure */
export async function runSql(kind: string, args: JsonObject, signal?: AbortSignal): Promise<Json> {
  if (isReadOnly && args['read_only'] !== true) throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  const type = `${kind}_run_sql`;
  return administer('v2/query', { body: { type, args }, signal });
}

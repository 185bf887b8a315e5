/** The last GraphQL operations of the service, and their summary by operation. */
import { isObject, type Json, type JsonObject, objectsIn } from './json.ts';

export interface RecentOperation {
  readonly at: string;
  readonly requestId: string;
  readonly type: string;
  /** Name, or the beginning of the document. */
  readonly label: string;
  readonly document: string;
  readonly role: string;
  /** In ms. */
  readonly duration: number;
  /** Code of the error; undefined on success. */
  readonly error: string | undefined;
}

/** Operations with the same label. */
export interface OperationSummary {
  readonly label: string;
  readonly type: string;
  readonly roles: readonly string[];
  readonly requests: number;
  readonly errors: number;
  /** In ms. */
  readonly median: number;
  readonly slowest: number;
}

/** Reads the answer of `get_recent_operations`. */
export function recentOperations(json: Json): readonly RecentOperation[] {
  return (isObject(json) ? objectsIn(json['operations']) : []).map(decode);
}

function decode({ at, request_id: requestId, type, name, document, role, duration, error }: JsonObject): RecentOperation {
  const text = typeof document === 'string' ? document : '';
  return {
    at: String(at),
    requestId: String(requestId),
    type: String(type),
    label: typeof name === 'string' ? name : text === '' ? 'rejected document' : text,
    document: text,
    role: String(role),
    duration: Number(duration),
    error: typeof error === 'string' ? error : undefined,
  };
}

/** Summarises operations by label. Those that took the most time together come first. */
export function summaries(operations: readonly RecentOperation[]): readonly OperationSummary[] {
  const total = (group: readonly RecentOperation[]): number => group.reduce((sum, { duration }) => sum + duration, 0);
  const groups = new Map<string, RecentOperation[]>();
  for (const operation of operations) {
    const key = `${operation.type} ${operation.label}`;
    groups.set(key, [...(groups.get(key) ?? []), operation]);
  }
  return [...groups.values()]
    .toSorted((a, b) => total(b) - total(a))
    .map((group) => {
      const times = group.map(({ duration }) => duration).toSorted((a, b) => a - b);
      return {
        label: group[0]?.label ?? '',
        type: group[0]?.type ?? '',
        roles: [...new Set(group.map(({ role }) => role))].sort(),
        requests: group.length,
        errors: group.filter(({ error }) => error !== undefined).length,
        median: times[Math.floor(times.length / 2)] ?? 0,
        slowest: times.at(-1) ?? 0,
      };
    });
}

/** Prints a duration in ms with at most one decimal. */
export function durationText(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

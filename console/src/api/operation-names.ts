/** Names of the operations of the metadata API, and what they change. */
import { type Changes, KIND_ALIASES, KIND_OPERATIONS, OPERATIONS } from './operations.generated.ts';

export type CommonOperation = keyof typeof OPERATIONS;
export type KindOperation = keyof typeof KIND_OPERATIONS;

/** Every operation, without aliases of kinds. */
export const OPERATION_NAMES: readonly string[] = [
  ...Object.keys(OPERATIONS),
  ...Object.entries(KIND_OPERATIONS).flatMap(([name, [, kinds]]) => kinds.split(' ').map((kind) => `${kind}_${name}`)),
];

/** Returns what an operation changes; undefined for unknown operations. */
export function changesOf(type: string): Changes | undefined {
  if (Object.hasOwn(OPERATIONS, type)) return OPERATIONS[type as CommonOperation];
  const [kind, ...rest] = type.split('_');
  const name = rest.join('_');
  if (!Object.hasOwn(KIND_OPERATIONS, name)) return undefined;
  const [changes, kinds] = KIND_OPERATIONS[name as KindOperation];
  return kinds.split(' ').includes(kind ?? '') ? changes : undefined;
}

/** Replaces the alias of a kind: `pg_track_table` for `postgres_track_table`. */
export function withoutAlias(type: string): string {
  const alias = Object.keys(KIND_ALIASES).find((each) => type.startsWith(`${each}_`));
  return alias === undefined ? type : `${KIND_ALIASES[alias] ?? alias}${type.slice(alias.length)}`;
}

/** Returns true if sources of the kind have the operation. */
export function hasOperation(kind: string, name: KindOperation): boolean {
  return KIND_OPERATIONS[name][1].split(' ').includes(kind);
}

/** Compares the permissions that a change replaces. Rules that let more rows through come first. */
import { type Reach, reachOf } from './filter-reach.ts';
import { equalJson, isList, isObject, type Json, type JsonObject } from './json.ts';
import { labelOf, type Step } from './steps.ts';
import { memberOf, type TableAddress } from './table-entry.ts';

export interface PermissionLine {
  /** Such as `filter`. */
  readonly key: string;
  /** Undefined if the key is missing. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly reach: Reach;
}

export interface PermissionChange {
  /** Such as `select permission of customer on public.album`. */
  readonly title: string;
  readonly kind: 'new' | 'changed' | 'dropped';
  readonly lines: readonly PermissionLine[];
}

/** Keys that are shown even if they are unchanged: a changed column is read together with its row filter. */
const ALWAYS = ['filter', 'check', 'set', 'columns'] as const;

/** Returns true if a line lets more rows through. */
export function isWiderRows({ key, reach }: PermissionLine): boolean {
  return reach === 'wider' && (key === 'filter' || key === 'check');
}

/** Permissions on `tables` that the steps create, replace or drop. @param entries stored entries of the tables */
export function permissionChanges(
  steps: readonly Step[],
  tables: readonly TableAddress[],
  entries: readonly (JsonObject | null)[],
): readonly PermissionChange[] {
  const found = new Map<string, { readonly title: string; readonly before: JsonObject | null; after: JsonObject | null }>();
  for (const { type, args } of steps) {
    const [, verb, operation] = /_(create|drop)_(select|insert|update|delete)_permission$/.exec(type) ?? [];
    const { role, table = null, source } = args;
    if (operation === undefined || typeof role !== 'string') continue;
    const at = tables.findIndex((each) => each.source === source && equalJson(each.table, table));
    if (at < 0) continue;
    const title = `${operation} permission of ${role} on ${labelOf(table)}`;
    const key = `${at} ${title}`;
    const stored = memberOf(entries[at] ?? null, `${operation}_permissions`, 'role', role)?.['permission'];
    const change = found.get(key) ?? { title, before: isObject(stored) ? stored : null, after: null };
    const permission = args['permission'];
    change.after = verb === 'create' && isObject(permission) ? permission : null;
    found.set(key, change);
  }
  return [...found.values()]
    .filter(({ before, after }) => !equalJson(before, after))
    .map(({ title, before, after }): PermissionChange => {
      const kind = before === null ? 'new' : after === null ? 'dropped' : 'changed';
      return { title, kind, lines: linesOf(before ?? {}, after ?? {}, kind) };
    })
    .sort((a, b) => weightOf(a) - weightOf(b));
}

function weightOf({ lines }: PermissionChange): number {
  return lines.some(isWiderRows) ? 0 : 1;
}

function linesOf(before: JsonObject, after: JsonObject, kind: PermissionChange['kind']): readonly PermissionLine[] {
  const keys = [...new Set([...ALWAYS, ...Object.keys(before), ...Object.keys(after)])];
  return keys
    .flatMap((key): readonly PermissionLine[] => {
      const [old, next] = [before[key], after[key]];
      if (old === undefined && next === undefined) return [];
      const isSame = equalJson(old, next);
      if (isSame && !ALWAYS.some((each) => each === key)) return [];
      return [{ key, before: old, after: next, reach: isSame ? 'same' : kind === 'changed' ? reachOfKey(key, old, next) : 'changed' }];
    })
    .sort((a, b) => Number(isWiderRows(b)) - Number(isWiderRows(a)));
}

function reachOfKey(key: string, before: Json | undefined, after: Json | undefined): Reach {
  if (key === 'filter' || key === 'check') {
    const reach = reachOf(before, after);
    // The same rule in another form still counts as a change.
    return reach === 'same' ? 'changed' : reach;
  }
  if (key !== 'columns') return 'changed';
  const within = (a: Json | undefined, b: Json | undefined): boolean =>
    b === '*' || (isList(a) && isList(b) && a.every((each) => b.includes(each)));
  return within(before, after) ? 'wider' : within(after, before) ? 'narrower' : 'changed';
}

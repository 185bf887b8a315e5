/** Parts of a plan that a person must decide, because a deployment cannot undo them, or clients or access depend on them. */
import type { DestructiveStatement } from '../migrations/destructive.ts';
import type { DocumentChange } from '../project/document-diff.ts';
import { isJsonObject, type Json, type JsonObject, objectOf, printJson } from '../util/json.ts';
import { compareFilters } from './row-filters.ts';
import type { SharedChange } from './schema-change.ts';

export interface Decision {
  readonly kind: 'destructive' | 'breaking' | 'row-filter';
  readonly message: string;
  /** Roles that it concerns; empty for migrations. */
  readonly roles: readonly string[];
  readonly file?: string;
  readonly line?: number;
}

/** A statement of a pending migration that deletes data. */
export interface DestructiveStep extends DestructiveStatement {
  readonly file: string;
}

export function decisionsOf(
  destructive: readonly DestructiveStep[],
  schemas: readonly SharedChange[],
  changes: readonly DocumentChange[],
): readonly Decision[] {
  return [
    ...destructive.map(({ what, file, line }): Decision => ({ kind: 'destructive', message: what, roles: [], file, line })),
    ...schemas.flatMap(({ kind, message, roles }): readonly Decision[] => (kind === 'breaking' ? [{ kind, message, roles }] : [])),
    ...changes.flatMap(filterDecisions),
  ];
}

const FILTERS = { filter: 'row filter', check: 'check' } as const;

function filterDecisions({ kind, object, role, access, before, after }: DocumentChange): readonly Decision[] {
  if (kind !== 'changed' || access === undefined) return [];
  const [one, other] = [permissionIn(before), permissionIn(after)];
  return (['filter', 'check'] as const).flatMap((key): readonly Decision[] => {
    const result = compareFilters(one[key], other[key]);
    if (result === 'same' || result === 'narrower') return [];
    const effect = result === 'wider' ? 'admits more rows' : 'admits other rows';
    const texts = `${printJson(one[key] ?? {})} -> ${printJson(other[key] ?? {})}`;
    return [
      { kind: 'row-filter', message: `the ${FILTERS[key]} of the ${object} ${effect}: ${texts}`, roles: role === undefined ? [] : [role] },
    ];
  });
}

function permissionIn(item: Json | undefined): JsonObject {
  const permission = isJsonObject(item) ? item['permission'] : undefined;
  return objectOf(permission);
}

/** The news of a plan: one line, and the same facts as data. */
import type { DocumentChange } from '../project/document-diff.ts';
import { counted } from '../util/counted.ts';
import type { JsonObject } from '../util/json.ts';
import { briefDescription } from './change-description.ts';
import { type Decision, decisionsOf } from './decisions.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { type SharedChange, sharedChanges } from './schema-change.ts';

export interface PlanSummary {
  /** Number of errors for which a deployment would fail. */
  readonly errors: number;
  /** Number of changed objects by sort, in the order in which they are shown. */
  readonly counts: ReadonlyMap<string, number>;
  readonly decisions: readonly Decision[];
  /** Changes of schemas without those that follow from another one. */
  readonly schemas: readonly SharedChange[];
  /** Number of changes of schemas that follow from another one. */
  readonly derived: number;
}

/** Nouns of the document's changes that are counted under another name. */
const SORTS: Readonly<Record<string, string>> = {
  'object relationship': 'relationship',
  'array relationship': 'relationship',
  'remote relationship': 'relationship',
  'insert permission': 'permission',
  'select permission': 'permission',
  'update permission': 'permission',
  'delete permission': 'permission',
  'object type': 'custom type',
  'input type': 'custom type',
  'enum type': 'custom type',
  scalar: 'custom type',
};

/** Sorts in the order in which they are shown; others follow. */
const ORDER = ['migration', 'seed', 'source', 'table', 'relationship', 'permission', 'computed field', 'function', 'event trigger'];

/** @param errors number of errors for which a deployment would fail */
export function summaryOf({ migrations, seeds, changes, schemas, mainSchemas, destructive }: DeploymentPlan, errors: number): PlanSummary {
  const main = sharedChanges(mainSchemas);
  const shown = new Set(main.map(keyOf));
  return {
    errors,
    counts: countsOf(migrations.length, seeds.length, changes),
    decisions: decisionsOf(destructive, main, changes),
    schemas: main,
    derived: sharedChanges(schemas).filter((change) => !shown.has(keyOf(change))).length,
  };
}

const keyOf = ({ kind, message }: SharedChange): string => `${kind} ${message}`;

function countsOf(migrations: number, seeds: number, changes: readonly DocumentChange[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(ORDER.map((sort) => [sort, 0]));
  counts.set('migration', migrations);
  counts.set('seed', seeds);
  for (const { noun } of changes) {
    const sort = SORTS[noun] ?? noun;
    counts.set(sort, (counts.get(sort) ?? 0) + 1);
  }
  return new Map([...counts].filter(([, count]) => count > 0));
}

/** Parts of the line: `1 migration, 3 permissions` and ``breaking for member, owner: `task.title` removed``. */
export function summaryParts({ errors, counts, decisions }: PlanSummary): {
  readonly failing: string | undefined;
  readonly changes: string | undefined;
  readonly breaking: string | undefined;
  readonly others: string | undefined;
} {
  const listed = [...counts].map(([sort, count]) => counted(count, sort, pluralOf(sort))).join(', ');
  const [destructive, filters] = (['destructive', 'row-filter'] as const).map(
    (kind) => decisions.filter((each) => each.kind === kind).length,
  );
  const others = [
    ...(destructive ? [counted(destructive, 'destructive statement')] : []),
    ...(filters ? [counted(filters, 'row filter')] : []),
  ];
  return {
    failing: errors === 0 ? undefined : `svc deploy would fail with ${counted(errors, 'error')}`,
    changes: listed === '' ? (errors === 0 ? 'nothing to deploy' : undefined) : listed,
    breaking: breakingText(decisions),
    others: others.length === 0 ? undefined : `to decide: ${others.join(', ')}`,
  };
}

function pluralOf(sort: string): string {
  return sort.endsWith('y') ? `${sort.slice(0, -1)}ies` : `${sort}s`;
}

const MAX_CHANGES = 3;
const MAX_GROUPS = 3;
const MAX_ROLES = 4;

/** Lists the breaking changes by the roles that they concern. */
function breakingText(decisions: readonly Decision[]): string | undefined {
  const groups = breakingGroups(decisions).map(
    ({ roles, changes }) => `for ${listOf(roles, MAX_ROLES, 'more roles')}: ${listOf(changes.map(briefDescription), MAX_CHANGES, 'more')}`,
  );
  if (groups.length === 0) return undefined;
  const left = groups.length - MAX_GROUPS;
  return `breaking ${groups.slice(0, MAX_GROUPS).join('; ')}${left > 0 ? `; and ${left} more for other roles` : ''}`;
}

function breakingGroups(
  decisions: readonly Decision[],
): readonly { readonly roles: readonly string[]; readonly changes: readonly string[] }[] {
  const groups = new Map<string, { readonly roles: readonly string[]; readonly changes: string[] }>();
  for (const { kind, roles, message } of decisions) {
    if (kind !== 'breaking') continue;
    const key = JSON.stringify(roles);
    const group = groups.get(key) ?? { roles, changes: [] };
    group.changes.push(message);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** `a, b and 3 more` */
function listOf(items: readonly string[], max: number, more: string): string {
  const left = items.length - max;
  return left > 0 ? `${items.slice(0, max).join(', ')} and ${left} ${more}` : items.join(', ');
}

export function summaryJson(summary: PlanSummary): JsonObject {
  const { errors, counts, decisions, schemas, derived } = summary;
  const { failing, changes, breaking, others } = summaryParts(summary);
  return {
    text: [failing, changes, breaking, others].filter((part) => part !== undefined).join('; '),
    errors,
    counts: Object.fromEntries(counts),
    breaking: breakingGroups(decisions),
    decisions: decisions.map((decision) => ({ ...decision })),
    schemas: schemas.map((change) => ({ ...change })),
    derived_schema_changes: derived,
  };
}

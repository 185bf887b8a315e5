/**
 * Root fields and type names of all sources in one register, so that conflicts are found without
 * building a role schema. Of two objects that claim a name the one listed first keeps it.
 *
 * The register is kept from build to build: a build looks only at objects whose names may have
 * changed. Its map is shared between the builds and brought up to date when the result of a build
 * is built upon, so a build that is thrown away leaves no trace.
 */
import type { Sliced } from '../../util/sliced.ts';
import type { OperationRoot, ProducedNames } from '../naming.ts';

export interface Claimant {
  readonly objectId: string;
  /** As in `table t in source s`. */
  readonly name: string;
  /** The names stay the same while these are the same objects. */
  readonly inputs: readonly unknown[];
  readonly names: () => ProducedNames;
}

interface Register {
  /** The `id` of the result that the map shows. */
  shows: object;
  readonly owners: Map<string, string>;
}

interface Edits {
  readonly removed: readonly string[];
  readonly added: readonly (readonly [name: string, owner: string])[];
}

export interface NamesResult {
  readonly claimants: ReadonlyMap<string, Claimant>;
  /** The message for each object that does not get its names. */
  readonly conflicts: ReadonlyMap<string, string>;
  /** Where the next build finds the register: a map and what has to be done to it; nothing after conflicts. */
  readonly register: { readonly id: object; readonly base: object; readonly at: Register; readonly edits: Edits } | null;
}

/** Types that are in every schema and belong to no object. */
const BUILT_IN = [
  'Int',
  'Float',
  'String',
  'Boolean',
  'ID',
  'query_root',
  'mutation_root',
  'subscription_root',
  'order_by',
  'cursor_ordering',
];

/** With more changed objects and names it takes less time to start over, and that can be done in slices. */
const FEW = 1_000;

/**
 * Gives each name to the first who claims it; the others are inconsistent.
 * @param previous only what has changed since is looked at
 */
export function* claimNames(claimants: readonly Claimant[], previous: NamesResult | undefined): Sliced<NamesResult> {
  const byId = new Map(claimants.map((claimant) => [claimant.objectId, claimant]));
  // In one go: between builds the register is shared.
  return (previous === undefined ? null : claimChanged(byId, previous)) ?? (yield* claimAll(claimants, byId));
}

function sameInputs(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((input, i) => input === b[i]);
}

/** The result when only few objects changed and no name is claimed twice; null: start over. */
function claimChanged(claimants: ReadonlyMap<string, Claimant>, previous: NamesResult): NamesResult | null {
  const owners = currentOwners(previous);
  if (owners === null) return null;
  const removed: string[] = [];
  const changed: Claimant[] = [];
  for (const claimant of claimants.values()) {
    const before = previous.claimants.get(claimant.objectId);
    if (before !== undefined && sameInputs(before.inputs, claimant.inputs)) continue;
    changed.push(claimant);
    if (before !== undefined) removed.push(...keysOf(before.names()));
    if (changed.length + removed.length > FEW) return null;
  }
  for (const before of previous.claimants.values()) if (!claimants.has(before.objectId)) removed.push(...keysOf(before.names()));
  if (changed.length + removed.length > FEW) return null;

  const free = new Set(removed);
  const added = new Map<string, string>();
  for (const claimant of changed) {
    for (const key of keysOf(claimant.names())) {
      if (added.has(key) || (owners.has(key) && !free.has(key))) return null;
      added.set(key, claimant.objectId);
    }
    if (added.size > FEW) return null;
  }
  const { id, at } = previous.register as NonNullable<NamesResult['register']>;
  return { claimants, conflicts: new Map(), register: { id: {}, base: id, at, edits: { removed, added: [...added] } } };
}

/** The register as `result` has it; null when it is not to be had. */
function currentOwners(result: NamesResult): ReadonlyMap<string, string> | null {
  if (result.register === null) return null;
  const { id, at, base, edits } = result.register;
  if (at.shows === id) return at.owners;
  if (at.shows !== base) return null;
  for (const key of edits.removed) at.owners.delete(key);
  for (const [key, owner] of edits.added) at.owners.set(key, owner);
  at.shows = id;
  return at.owners;
}

/** Of a root field in the register; a type has its name. */
export function rootKey(root: OperationRoot, namespace: string | null, name: string): string {
  return `${root}/${namespace ?? ''}/${name}`;
}

/** Who has a name, `''` for what is in every schema; by the keys of the register. */
export function ownersOf(result: NamesResult): ReadonlyMap<string, string> {
  const known = currentOwners(result);
  if (known !== null) return known;
  const owners = new Map(BUILT_IN.map((name) => [name, '']));
  for (const claimant of result.claimants.values()) {
    if (!result.conflicts.has(claimant.objectId)) for (const key of keysOf(claimant.names())) owners.set(key, claimant.objectId);
  }
  return owners;
}

function* keysOf(names: ProducedNames): Iterable<string> {
  for (const root of names.roots) if (!root.givesWay) yield rootKey(root.root, root.namespace, root.name);
  for (const type of new Set(names.types)) yield type;
}

function* claimAll(claimants: readonly Claimant[], byId: ReadonlyMap<string, Claimant>): Sliced<NamesResult> {
  const owners = new Map(BUILT_IN.map((name) => [name, '']));
  const conflicts = new Map<string, string>();
  for (const claimant of claimants) {
    const keys = [...keysOf(claimant.names())];
    const taken = keys.some((key) => owners.has(key)) || new Set(keys).size < keys.length;
    if (taken) conflicts.set(claimant.objectId, explain(claimant, owners, byId));
    else for (const key of keys) owners.set(key, claimant.objectId);
    yield;
  }
  if (conflicts.size > 0) return { claimants: byId, conflicts, register: null };
  const id = {};
  return { claimants: byId, conflicts, register: { id, base: id, at: { shows: id, owners }, edits: { removed: [], added: [] } } };
}

/** Roots in the order in which a conflict is looked for; only the first that has one is reported. */
const ROOTS: readonly OperationRoot[] = ['mutation', 'subscription', 'query'];

function explain(claimant: Claimant, owners: ReadonlyMap<string, string>, claimants: ReadonlyMap<string, Claimant>): string {
  const names = claimant.names();
  const rivals = (owner: string | undefined): string =>
    `[${[claimants.get(owner ?? '')?.name ?? claimant.name, claimant.name].sort().join(', ')}]`;
  for (const root of ROOTS) {
    const own = new Set<string>();
    const clashes: string[] = [];
    for (const { namespace, name, root: of, givesWay } of names.roots) {
      if (of !== root || givesWay) continue;
      const owner = owners.get(rootKey(root, namespace, name));
      if (owner !== undefined || own.has(name)) clashes.unshift(`'${name}' defined in ${rivals(owner)}`);
      own.add(name);
    }
    if (clashes.length === 0) continue;
    const fields = clashes.length === 1 ? `field ${clashes[0]}` : `fields: [\n${clashes.map((clash) => `  ${clash}`).join(',\n')}\n]`;
    return `Encountered conflicting definitions in the selection set for '${root}_root' for ${fields}. Fields must not be defined more than once across all sources.`;
  }
  const type = names.types.find((name) => owners.has(name)) ?? '';
  return `Encountered conflicting definitions of the GraphQL type '${type}' in ${rivals(owners.get(type))}. Types must not be defined more than once across all sources.`;
}

/**
 * Registers root fields and type names of all sources, so that conflicts are found without building a role schema. If two objects claim a
 * name, the one that is listed first has it.
 *
 * The register is reused between builds: a build looks only at objects whose names may have changed. Builds share its map. The edits of a
 * build are applied to it only when another build starts from its result, so a discarded build has no effect.
 */
import type { Cooperative } from '../../util/cooperative.ts';
import type { OperationRoot, ProducedNames } from '../naming.ts';

export interface Claimant {
  readonly objectId: string;
  /** Name in messages: `table t in source s`. */
  readonly name: string;
  /** The names do not change while these are the same objects. */
  readonly inputs: readonly unknown[];
  readonly names: () => ProducedNames;
}

interface Register {
  /** `id` of the result that the map represents. */
  state: object;
  readonly owners: Map<string, string>;
}

interface Edits {
  readonly removed: readonly string[];
  readonly added: readonly (readonly [name: string, owner: string])[];
}

export interface NamesResult {
  readonly claimants: ReadonlyMap<string, Claimant>;
  /** Messages by id of the objects that did not get their names. */
  readonly conflicts: ReadonlyMap<string, string>;
  /** The register for the next build: a map and the edits to apply to it; `null` after conflicts. */
  readonly register: { readonly id: object; readonly base: object; readonly shared: Register; readonly edits: Edits } | null;
}

/** Types of every schema that belong to no object. */
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
  'aggregate_time_unit',
  'aggregate_time_part',
];

/** Maximum changed objects and names. With more, it takes less time to start over, which can be done cooperatively. */
const MAX_CHANGES = 1_000;

/**
 * Assigns each name to the first claimant; the others are inconsistent.
 * @param previous only changes since then are examined
 */
export function* claimNames(claimants: readonly Claimant[], previous: NamesResult | undefined): Cooperative<NamesResult> {
  const byId = new Map(claimants.map((claimant) => [claimant.objectId, claimant]));
  // Runs without interruption: builds share the register.
  return (previous === undefined ? null : claimChanged(byId, previous)) ?? (yield* claimAll(claimants, byId));
}

function sameInputs(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((input, i) => input === b[i]);
}

/** Returns the result if only few objects changed and no name is claimed twice; `null` means to start over. */
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
    if (changed.length + removed.length > MAX_CHANGES) return null;
  }
  for (const before of previous.claimants.values()) if (!claimants.has(before.objectId)) removed.push(...keysOf(before.names()));
  if (changed.length + removed.length > MAX_CHANGES) return null;

  const free = new Set(removed);
  const added = new Map<string, string>();
  for (const claimant of changed) {
    for (const key of keysOf(claimant.names())) {
      if (added.has(key) || (owners.has(key) && !free.has(key))) return null;
      added.set(key, claimant.objectId);
    }
    if (added.size > MAX_CHANGES) return null;
  }
  const { id, shared } = previous.register as NonNullable<NamesResult['register']>;
  return { claimants, conflicts: new Map(), register: { id: {}, base: id, shared, edits: { removed, added: [...added] } } };
}

/** Returns the register for `result`, or `null` if it is no longer available. */
function currentOwners(result: NamesResult): ReadonlyMap<string, string> | null {
  if (result.register === null) return null;
  const { id, shared, base, edits } = result.register;
  if (shared.state === id) return shared.owners;
  if (shared.state !== base) return null;
  for (const key of edits.removed) shared.owners.delete(key);
  for (const [key, owner] of edits.added) shared.owners.set(key, owner);
  shared.state = id;
  return shared.owners;
}

/** Returns the key of a root field in the register; the key of a type is its name. */
export function rootKey(root: OperationRoot, namespace: string | null, name: string): string {
  return `${root}/${namespace ?? ''}/${name}`;
}

/** Returns the owners of names by the keys of the register; `''` for names of every schema. */
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

function* claimAll(claimants: readonly Claimant[], byId: ReadonlyMap<string, Claimant>): Cooperative<NamesResult> {
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
  return { claimants: byId, conflicts, register: { id, base: id, shared: { state: id, owners }, edits: { removed: [], added: [] } } };
}

/** Roots in the order in which conflicts are searched; only the first root with a conflict is reported. */
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

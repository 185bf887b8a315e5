/** Entries of tables in the metadata, and the smallest set of operations that turns one into another. */
import { equalJson, isObject, type Json, type JsonObject, objectsIn, printJson } from './json.ts';
import type { Step } from './steps.ts';

export interface TableAddress {
  readonly source: string;
  readonly kind: string;
  /** Table name in metadata. */
  readonly table: Json;
}

export const PERMISSION_OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
export type PermissionOperation = (typeof PERMISSION_OPERATIONS)[number];

/** A list of an entry whose members have a name or a role, with the operations that add and drop one. */
interface Noun {
  readonly key: string;
  readonly id: 'name' | 'role';
  readonly add: string;
  readonly drop: string;
  /** The argument that names the member in `drop`. */
  readonly dropKey: string;
  /** Operation that replaces a member in place, so that its dependents survive. */
  readonly replace?: (member: JsonObject) => { readonly operation: string; readonly args: JsonObject };
  /** Arguments of `add`. Defaults to the member itself. */
  readonly args?: (member: JsonObject) => JsonObject;
}

/** The operations expect the keys of `definition` at the top level. */
function triggerArgs({ definition, ...rest }: JsonObject): JsonObject {
  return isObject(definition) ? { ...rest, ...definition } : rest;
}

const NOUNS: readonly Noun[] = [
  { key: 'object_relationships', id: 'name', add: 'create_object_relationship', drop: 'drop_relationship', dropKey: 'relationship' },
  { key: 'array_relationships', id: 'name', add: 'create_array_relationship', drop: 'drop_relationship', dropKey: 'relationship' },
  { key: 'computed_fields', id: 'name', add: 'add_computed_field', drop: 'drop_computed_field', dropKey: 'name' },
  {
    key: 'remote_relationships',
    id: 'name',
    add: 'create_remote_relationship',
    drop: 'delete_remote_relationship',
    dropKey: 'name',
    replace: (member) => ({ operation: 'update_remote_relationship', args: member }),
  },
  ...PERMISSION_OPERATIONS.map(
    (operation): Noun => ({
      key: `${operation}_permissions`,
      id: 'role',
      add: `create_${operation}_permission`,
      drop: `drop_${operation}_permission`,
      dropKey: 'role',
    }),
  ),
  {
    key: 'event_triggers',
    id: 'name',
    add: 'create_event_trigger',
    drop: 'delete_event_trigger',
    dropKey: 'name',
    replace: (member) => ({ operation: 'create_event_trigger', args: { ...triggerArgs(member), replace: true } }),
    args: triggerArgs,
  },
];

const SETTINGS = new Set(['table', 'configuration', 'is_enum', 'ext_federation_config']);

export function membersOf(entry: JsonObject | null, key: string): readonly JsonObject[] {
  return objectsIn(entry?.[key]);
}

export function memberOf(entry: JsonObject | null, key: string, id: 'name' | 'role', name: string): JsonObject | undefined {
  return membersOf(entry, key).find((member) => member[id] === name);
}

/**
 * Steps from one entry of a table to another; `null` is an untracked table. Drops come first, in reverse order of dependencies. A changed
 * member is replaced in place, or dropped and created again.
 * @throws Error for keys that no operation sets
 */
export function tableSteps({ source, kind, table }: TableAddress, before: JsonObject | null, after: JsonObject | null): Step[] {
  const step = (name: string, args: JsonObject): Step => ({ type: `${kind}_${name}`, args: { source, ...args } });
  if (after === null) return before === null ? [] : [step('untrack_table', { table, cascade: true })];
  const steps: Step[] = [];
  if (before === null) {
    const { configuration } = after;
    steps.push(step('track_table', { table, ...(configuration === undefined ? {} : { configuration }) }));
  }
  const known = new Set([...SETTINGS, ...NOUNS.map(({ key }) => key)]);
  for (const key of new Set([...Object.keys(before ?? {}), ...Object.keys(after)])) {
    if (!known.has(key) && !equalJson(before?.[key], after[key])) throw new Error(`"${key}" cannot be changed here`);
  }
  // A field that is dropped and created again is missing for a moment, so permissions that name it are dropped and created, too.
  const recreated = NOUNS.filter(({ id, replace }) => id === 'name' && replace === undefined).flatMap(({ key }) =>
    membersOf(before, key)
      .map(({ name }) => String(name))
      .filter((name) => {
        const next = memberOf(after, key, 'name', name);
        return next !== undefined && !equalJson(next, memberOf(before, key, 'name', name));
      }),
  );
  const namesRecreated = (noun: Noun, member: JsonObject): boolean =>
    noun.id === 'role' && recreated.some((name) => printJson(member).includes(JSON.stringify(name)));
  if (before !== null) {
    for (const noun of NOUNS.toReversed()) {
      for (const member of membersOf(before, noun.key)) {
        const name = member[noun.id] as string;
        const next = memberOf(after, noun.key, noun.id, name);
        if (namesRecreated(noun, member) || (!equalJson(member, next) && (next === undefined || noun.replace === undefined))) {
          const args: JsonObject = { [noun.dropKey]: name };
          steps.push(step(noun.drop, noun.key === 'event_triggers' ? args : { table, ...args }));
        }
      }
    }
    if (!equalJson(before['configuration'], after['configuration']))
      steps.push(step('set_table_customization', { table, configuration: after['configuration'] ?? {} }));
  }
  if ((before?.['is_enum'] ?? false) !== (after['is_enum'] ?? false))
    steps.push(step('set_table_is_enum', { table, is_enum: after['is_enum'] === true }));
  if (!equalJson(before?.['ext_federation_config'], after['ext_federation_config']))
    steps.push(step('set_ext_federation_config', { table, ext_federation_config: after['ext_federation_config'] ?? null }));
  for (const noun of NOUNS) {
    for (const member of membersOf(after, noun.key)) {
      const name = member[noun.id];
      if (typeof name !== 'string') throw new Error(`a member of "${noun.key}" has no ${noun.id}`);
      const former = memberOf(before, noun.key, noun.id, name);
      if (equalJson(member, former) && !namesRecreated(noun, member)) continue;
      const replaced = former === undefined ? undefined : noun.replace?.(member);
      steps.push(
        replaced === undefined
          ? step(noun.add, { table, ...(noun.args?.(member) ?? member) })
          : step(replaced.operation, { table, ...replaced.args }),
      );
    }
  }
  return steps;
}

/** Replaces or adds a member of an entry's list; `null` removes it. */
export function withMember(entry: JsonObject, key: string, id: 'name' | 'role', name: string, member: JsonObject | null): JsonObject {
  const others = membersOf(entry, key);
  const at = others.findIndex((other) => other[id] === name);
  const list = member === null ? others.filter((_, index) => index !== at) : at < 0 ? [...others, member] : others.with(at, member);
  const { [key]: _, ...rest } = entry;
  return list.length === 0 ? rest : { ...rest, [key]: list };
}

/** Compares two documents object by object: what was added, removed and changed, and which roles gain access. */
import { createTwoFilesPatch } from 'diff';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, printJson } from '../util/json.ts';
import { withSecretsHidden } from './lint/secrets.ts';
import { canonical, identityOf, isOrderless, nameOf, sameMeaning } from './directory/sections.ts';
import { indented } from './directory/write-metadata.ts';

export interface DocumentChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** `select permission`; `setting` for a section without objects. */
  readonly noun: string;
  /** `select permission user on public.author` */
  readonly object: string;
  readonly source?: string;
  readonly table?: string;
  readonly role?: string;
  /** Set for a permission: whether the role gains or loses access; `changed` for both, or if unknown. */
  readonly access?: 'gained' | 'lost' | 'changed';
  /** For a change, a line for each member. */
  readonly details: readonly string[];
  readonly before?: Json;
  readonly after?: Json;
}

/** Nouns for the items of lists. */
const NOUNS: Readonly<Record<string, string>> = {
  sources: 'source',
  tables: 'table',
  functions: 'function',
  object_relationships: 'object relationship',
  array_relationships: 'array relationship',
  remote_relationships: 'remote relationship',
  computed_fields: 'computed field',
  insert_permissions: 'insert permission',
  select_permissions: 'select permission',
  update_permissions: 'update permission',
  delete_permissions: 'delete permission',
  event_triggers: 'event trigger',
  permissions: 'permission',
  remote_schemas: 'remote schema',
  query_collections: 'query collection',
  allowlist: 'allow-list entry',
  actions: 'action',
  cron_triggers: 'cron trigger',
  rest_endpoints: 'REST endpoint',
  inherited_roles: 'inherited role',
  objects: 'object type',
  input_objects: 'input type',
  enums: 'enum type',
  scalars: 'scalar',
  queries: 'query',
};

interface Around {
  readonly source?: string;
  readonly table?: string;
  /** ` on public.author` */
  readonly on: string;
}

/** Returns the changes from one document to the other, in the order of the second. Ignores the order of unordered lists. */
export function diffDocuments(before: JsonObject, after: JsonObject): readonly DocumentChange[] {
  const changes: DocumentChange[] = [];
  diffMembers(before, after, { on: '' }, 'metadata', changes, (key) => key === 'version');
  return changes;
}

function isObjectList(key: string, ...values: readonly (Json | undefined)[]): boolean {
  if (NOUNS[key] === undefined) return false;
  return values.every(
    (value) => value === undefined || (isJsonArray(value) && value.every((item) => isJsonObject(item) && identityOf(item) !== undefined)),
  );
}

/** @param object description of the object with these members */
function diffMembers(
  before: JsonObject,
  after: JsonObject,
  around: Around,
  object: string,
  changes: DocumentChange[],
  skip: (key: string) => boolean = () => false,
): readonly string[] {
  const details: string[] = [];
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    if (skip(key)) continue;
    const [one, other] = [before[key], after[key]];
    if (isObjectList(key, one, other))
      diffLists(key, (one ?? []) as readonly JsonObject[], (other ?? []) as readonly JsonObject[], around, changes);
    else if (object === 'metadata') {
      if (isJsonObject(one ?? {}) && isJsonObject(other ?? {}) && key === 'custom_types')
        diffMembers((one ?? {}) as JsonObject, (other ?? {}) as JsonObject, around, 'metadata', changes);
      else if (!same(one, other, key))
        changes.push({
          kind: one === undefined ? 'added' : other === undefined ? 'removed' : 'changed',
          noun: 'setting',
          object: key,
          details: settingLines(key, one, other),
          ...(one === undefined ? {} : { before: one }),
          ...(other === undefined ? {} : { after: other }),
        });
    } else if (!same(one, other, key)) details.push(...describeMember(key, one, other));
  }
  return details;
}

function settingLines(key: string, before: Json | undefined, after: Json | undefined): readonly string[] {
  if (before === undefined || after === undefined) return after === undefined ? [] : [shown(after, key)];
  return describeMember(key, before, after).map((line) => line.replace(`${key}.`, '').replace(`${key} `, ''));
}

function same(a: Json | undefined, b: Json | undefined, key: string): boolean {
  return a === b || (a !== undefined && b !== undefined && sameMeaning(a, b, key));
}

function diffLists(
  key: string,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
  around: Around,
  changes: DocumentChange[],
): void {
  const noun = NOUNS[key] as string;
  const old = new Map(before.map((item) => [identityOf(item) as string, item]));
  const now = new Map(after.map((item) => [identityOf(item) as string, item]));
  for (const [identity, item] of now) diffItem(key, noun, old.get(identity), item, around, changes);
  for (const [identity, item] of old) if (!now.has(identity)) diffItem(key, noun, item, undefined, around, changes);
}

function diffItem(
  key: string,
  noun: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  around: Around,
  changes: DocumentChange[],
): void {
  const item = (after ?? before) as JsonObject;
  const name = nameOf(item);
  const object = `${noun} ${name}${around.on}`;
  const inside: Around =
    key === 'sources'
      ? { source: name, on: '' }
      : {
          ...around,
          ...(key === 'tables' ? { table: name } : {}),
          on: key === 'tables' ? ` on ${name}` : ` of ${noun} ${name}${around.on}`,
        };
  const sub: DocumentChange[] = [];
  const details = diffMembers(before ?? {}, after ?? {}, inside, object, sub);
  const role = typeof item['role'] === 'string' ? { role: item['role'] } : {};
  const access = accessOf(key, before, after);
  const common = { noun, object, ...placeOf(around), ...role, ...(access === undefined ? {} : { access }) };
  if (before === undefined || after === undefined) {
    const kind = before === undefined ? 'added' : 'removed';
    changes.push({
      kind,
      ...common,
      details: key.endsWith('permissions') ? permissionLines(item) : before === undefined ? factsOf(key, item) : [],
      ...(after === undefined ? { before: item } : { after: item }),
    });
    // Parts of an added or removed object are listed only if they are about access, or send data to another server.
    changes.push(...sub.filter((change) => change.access !== undefined || change.noun === NOUNS['event_triggers'] || key === 'sources'));
    return;
  }
  if (details.length > 0) changes.push({ kind: 'changed', ...common, details, before, after });
  changes.push(...sub);
}

function placeOf({ source, table }: Around): Pick<DocumentChange, 'source' | 'table'> {
  return { ...(source === undefined ? {} : { source }), ...(table === undefined ? {} : { table }) };
}

function permissionLines(item: JsonObject): readonly string[] {
  const permission = objectOf(item['permission']);
  return Object.entries(permission).map(([key, value]) => `${key} ${shown(value, key)}`);
}

/** Members of an added object that show what it does. */
const FACTS: Readonly<Record<string, readonly string[]>> = {
  event_triggers: ['webhook', 'webhook_from_env'],
  cron_triggers: ['schedule', 'webhook'],
  actions: ['kind', 'handler'],
  remote_schemas: ['url', 'url_from_env'],
  rest_endpoints: ['methods', 'url'],
  inherited_roles: ['role_set'],
  allowlist: ['scope'],
};
const OPERATIONS = ['insert', 'update', 'delete'] as const;

function factsOf(key: string, item: JsonObject): readonly string[] {
  const definition = objectOf(item['definition']);
  const operations = key === 'event_triggers' ? OPERATIONS.filter((operation) => definition[operation] !== undefined) : [];
  const facts = (FACTS[key] ?? []).flatMap((name) => {
    const value = item[name] ?? definition[name];
    return value === undefined ? [] : [`${name} ${shown(value, name)}`];
  });
  return [...(operations.length === 0 ? [] : [`operations ${operations.join(', ')}`]), ...facts];
}

function accessOf(key: string, before: JsonObject | undefined, after: JsonObject | undefined): DocumentChange['access'] {
  if (!key.endsWith('permissions')) return undefined;
  if (before === undefined) return 'gained';
  if (after === undefined) return 'lost';
  if (sameMeaning(before, after)) return undefined;
  const [one, other] = [before['permission'], after['permission']].map(objectOf) as [JsonObject, JsonObject];
  const columns = compareSets(one['columns'], other['columns']);
  const rest = ({ columns: _, ...others }: JsonObject): string => canonical(others);
  if (rest(one) !== rest(other) || columns === 'both') return 'changed';
  return columns === 'more' ? 'gained' : columns === 'less' ? 'lost' : 'changed';
}

function compareSets(a: Json | undefined, b: Json | undefined): 'more' | 'less' | 'both' | 'same' {
  if (canonical(a ?? null, 'columns') === canonical(b ?? null, 'columns')) return 'same';
  if (b === '*') return 'more';
  if (a === '*') return 'less';
  const [one, other] = [a, b].map((value) => new Set(isJsonArray(value) ? value.map(canonicalItem) : [])) as [Set<string>, Set<string>];
  const gains = [...other].some((item) => !one.has(item));
  const loses = [...one].some((item) => !other.has(item));
  return gains && loses ? 'both' : gains ? 'more' : 'less';
}

function canonicalItem(item: Json): string {
  return canonical(item);
}

/** Returns lines such as `columns +email -name` and `limit 10 -> 20`; for an object, a line for each member that differs. */
function describeMember(key: string, before: Json | undefined, after: Json | undefined): readonly string[] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const lines: string[] = [];
    for (const inner of new Set([...Object.keys(before), ...Object.keys(after)]))
      if (!same(before[inner], after[inner], inner)) lines.push(...describeMember(`${key}.${inner}`, before[inner], after[inner]));
    return lines.map((line) => line.replace(/^([+-]?)(?:permission|definition)\./, '$1'));
  }
  const last = key.split('.').at(-1) as string;
  if (isJsonArray(before) && isJsonArray(after) && isOrderless(last)) {
    const [one, other] = [new Set(before.map(canonicalItem)), new Set(after.map(canonicalItem))];
    const removed = before.filter((item) => !other.has(canonicalItem(item)));
    const added = after.filter((item) => !one.has(canonicalItem(item)));
    // Items that differ in another member than their name are shown whole.
    const names = new Set(removed.map(nameOf));
    const print = added.some((item) => names.has(nameOf(item))) ? (item: Json) => shown(item, last) : nameOf;
    return [`${key} ${[...added.map((item) => `+${print(item)}`), ...removed.map((item) => `-${print(item)}`)].join(' ')}`];
  }
  if (before === undefined) return [`+${key} ${shown(after as Json, last)}`];
  if (after === undefined) return [`-${key} ${shown(before, last)}`];
  return [`${key} ${shown(before, last)} -> ${shown(after, last)}`];
}

function shown(value: Json, key: string): string {
  const text = printJson(withSecretsHidden(value, key));
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

/** Returns lines such as `+ select permission user on public.author`, with a note if a role gains access. */
export function printChanges(changes: readonly DocumentChange[]): string {
  const several = new Set(changes.map(({ source }) => source).filter((source) => source !== undefined)).size > 1;
  return changes
    .map(({ kind, object, source, details, access, role }) => {
      const where = several && source !== undefined ? ` in ${source}` : '';
      const gains = access === 'gained' && role !== undefined ? `   ! role ${role} gains access` : '';
      // Those of added and removed permissions are long; the plan has them in its section about access.
      const isShown = details.length > 0 && (kind === 'changed' || access === undefined);
      return `${SIGNS[kind]} ${object}${where}${isShown ? ` ${details.join('; ')}` : ''}${gains}`;
    })
    .join('\n');
}

/** Returns a unified diff between the documents. @param print defaults to indented JSON */
export function unifiedDiff(
  before: JsonObject,
  after: JsonObject,
  names: readonly [string, string],
  print: (document: JsonObject) => string = (json) => `${indented(json)}\n`,
): string {
  return createTwoFilesPatch(names[0], names[1], print(before), print(after), undefined, undefined, { context: 3 });
}

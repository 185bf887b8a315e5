/**
 * Cases of the source operations on databases of several kinds, in the order of a source's life: one that succeeds and two that are
 * rejected. Each database has a source `shop` with the tables `item` (`id`, `name`) and `part` (`item_id`, `label`), and a PostgreSQL
 * table `note`.
 */
import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../src/util/json.ts';
import type { Answer, TestService } from './service.ts';

export type Refused = readonly [code: string, args: JsonObject];
export type Case = readonly [operation: string, args: JsonObject, one: Refused, other: Refused];

export interface Tables {
  /** The name of a table in the notation of the kind. */
  table(name: string): Json;
  /** Relationship definitions from an item to its parts and back, and an invalid one. */
  readonly using: { readonly parts: JsonObject; readonly item: JsonObject; readonly noParts: JsonObject; readonly noItem: JsonObject };
}

const S = { source: 'shop' };
const toNotes = (relationship_type: string): JsonObject => ({
  to_source: { source: 'default', table: 'note', relationship_type, field_mapping: { id: 'item_id' } },
});
const nowhere = { to_source: { source: 'none', table: 'x', relationship_type: 'array', field_mapping: { id: 'y' } } };

/** Operations that are the same on all kinds, in groups between which others may run. */
export function sharedCases({ table, using }: Tables) {
  const item = { ...S, table: table('item') };
  const part = { ...S, table: table('part') };
  const none = { ...S, table: table('none') };
  const missingSource: Refused = ['not-exists', { source: 'none', table: table('item') }];
  const named: readonly Case[] = [
    [
      'set_table_customization',
      { ...item, configuration: { custom_name: 'thing', column_config: { name: { custom_name: 'title' } } } },
      ['not-exists', { ...none, configuration: {} }],
      ['parse-failed', { ...item, configuration: { column_config: 1 } }],
    ],
    [
      'set_ext_federation_config',
      { ...item, ext_federation_config: { enable: 'v1' } },
      ['parse-failed', { ...item, ext_federation_config: { enable: 'v9' } }],
      missingSource,
    ],
  ];
  const related: readonly Case[] = [
    ['suggest_relationships', S, ['not-exists', { source: 'none' }], ['parse-failed', { source: [] }]],
    [
      'create_object_relationship',
      { ...part, name: 'item', ...using.item },
      ['already-exists', { ...part, name: 'item', ...using.item }],
      ['invalid-configuration', { ...part, name: 'other', ...using.noItem }],
    ],
    [
      'create_array_relationship',
      { ...item, name: 'parts', ...using.parts },
      ['already-exists', { ...item, name: 'name', ...using.parts }],
      ['invalid-configuration', { ...item, name: 'others', ...using.noParts }],
    ],
  ];
  const renamed: Case = [
    'rename_relationship',
    { ...item, name: 'parts', new_name: 'pieces' },
    ['not-exists', { ...item, name: 'parts', new_name: 'x' }],
    ['already-exists', { ...item, name: 'pieces', new_name: 'name' }],
  ];
  const permission = (kind: string, own: JsonObject, wrong: JsonObject): Case => [
    `create_${kind}_permission`,
    { ...item, role: 'user', permission: own },
    ['already-exists', { ...item, role: 'user', permission: own }],
    [kind === 'delete' ? 'parse-failed' : 'invalid-configuration', { ...item, role: 'other', permission: wrong }],
  ];
  const seen = permission(
    'select',
    { columns: ['id', 'name'], filter: { pieces: { label: { _eq: 'X-Svc-User-Id' } } } },
    { columns: ['none'], filter: {} },
  );
  const commented: Case = [
    'set_permission_comment',
    { ...item, role: 'user', type: 'select', comment: 'c' },
    ['permission-denied', { ...item, role: 'nobody', type: 'select', comment: 'c' }],
    ['parse-failed', { ...item, role: 'user', type: 'all', comment: 'c' }],
  ];
  const joined: readonly Case[] = [
    [
      'create_remote_relationship',
      { ...item, name: 'notes', definition: toNotes('array') },
      ['already-exists', { ...item, name: 'notes', definition: toNotes('array') }],
      ['invalid-configuration', { ...item, name: 'more', definition: nowhere }],
    ],
    [
      'update_remote_relationship',
      { ...item, name: 'notes', definition: toNotes('object') },
      ['not-exists', { ...item, name: 'none', definition: toNotes('object') }],
      ['parse-failed', { ...item, name: 'notes', definition: {} }],
    ],
  ];
  const unjoined: Case = [
    'delete_remote_relationship',
    { ...item, name: 'notes' },
    ['not-exists', { ...item, name: 'notes' }],
    ['not-exists', { ...none, name: 'notes' }],
  ];
  const forbidden = (kind: string): Case => [
    `drop_${kind}_permission`,
    { ...item, role: 'user' },
    ['permission-denied', { ...item, role: 'nobody' }],
    ['not-exists', { ...none, role: 'user' }],
  ];
  const ended: readonly Case[] = [
    [
      'drop_relationship',
      { ...item, relationship: 'pieces' },
      ['not-exists', { ...item, relationship: 'pieces' }],
      ['not-exists', { ...none, relationship: 'item' }],
    ],
    ['untrack_table', { ...item, cascade: true }, ['already-untracked', item], missingSource],
  ];
  const dropped: Case = ['drop_source', { name: 'shop', cascade: true }, ['not-exists', { name: 'shop' }], ['parse-failed', {}]];
  return {
    item,
    part,
    none,
    missingSource,
    named,
    related,
    renamed,
    permission,
    seen,
    commented,
    joined,
    unjoined,
    forbidden,
    ended,
    dropped,
  };
}

/** An operation as administrators send it, if it is supported. */
export function operate(service: TestService, type: string, args: JsonObject, edit = (body: string): string => body): Promise<Answer> {
  const body = edit(JSON.stringify({ type, args }));
  return service.send(type.endsWith('run_sql') ? '/v2/query' : '/v1/metadata', { method: 'POST', body });
}

/** The operations of a kind in the published list, without the prefix and `run_sql`. @throws Error if there are none */
export function listedOperations(kind: string): readonly string[] {
  const reference = readFileSync('docs/reference/metadata-api.md', 'utf8');
  const found = [...reference.matchAll(/^## ([a-z]+)_([a-z_]+)$/gm)].flatMap(([, prefix, name]) =>
    prefix === kind && name !== undefined ? [name] : [],
  );
  if (found.length === 0) throw new Error(`no operation of ${kind} is in the list`);
  return found;
}

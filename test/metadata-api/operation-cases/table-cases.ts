/** Sources and everything on their tables except event triggers, under every prefix of the kind. */

import { BASE, withoutInheritedRoles } from './base.ts';
import { type Case, failure, toSource } from './case.ts';

const anyColumns = { columns: ['id'], filter: {} };

export const TABLES: Readonly<Record<string, Case>> = {
  add_source: {
    args: { name: 'third', configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } } },
    fails: [
      failure(
        { name: 'default', configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } } },
        'already-exists',
        '$.args',
      ),
      failure(
        { name: 'third', configuration: { connection_info: { database_url: { from_env: 'NOT_SET' } } } },
        'invalid-configuration',
        '$.args',
      ),
      failure({ name: 'third' }, 'parse-failed', '$.args'),
    ],
  },
  update_source: {
    args: { name: 'second', customization: { root_fields: { prefix: 'other_' }, type_names: { prefix: 'other_' } } },
    fails: [
      failure({ name: 'nothing', customization: {} }, 'not-exists', '$.args'),
      failure({ name: 'second', customization: { root_fields: 1 } }, 'parse-failed', '$.args.customization.root_fields'),
    ],
  },
  drop_source: {
    args: { name: 'second' },
    fails: [failure({ name: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  track_table: {
    args: { table: 'tag' },
    fails: [
      failure({ table: 'author' }, 'already-tracked', '$.args'),
      failure({ table: 'nothing' }, 'invalid-configuration', '$.args'),
      failure({ table: 'tag', source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  untrack_table: {
    args: { table: 'color' },
    fails: [failure({ table: 'tag' }, 'already-untracked', '$.args'), failure({ table: 'article' }, 'dependency-error', '$.args')],
  },
  track_tables: {
    args: { tables: [{ table: 'tag' }] },
    fails: [
      failure({ tables: [{ table: 'nothing' }] }, 'invalid-configuration', '$.args'),
      failure({ tables: [{ table: 'tag' }, { table: 'tag' }] }, 'bad-request', '$.args.tables'),
    ],
  },
  untrack_tables: {
    args: { tables: [{ table: 'color' }] },
    fails: [
      failure({ tables: [{ table: 'tag' }] }, 'invalid-configuration', '$.args'),
      failure({ tables: 'color' }, 'parse-failed', '$.args.tables'),
    ],
  },
  set_table_customization: {
    args: { table: 'color', configuration: { custom_name: 'colour', comment: 'what it is painted in' } },
    fails: [
      failure({ table: 'tag', configuration: {} }, 'not-exists', '$.args'),
      failure({ table: 'author', configuration: { custom_name: 'article' } }, 'unexpected', '$.args'),
    ],
  },
  set_table_is_enum: {
    args: { table: 'color', is_enum: true },
    fails: [
      failure({ table: 'author', is_enum: true }, 'invalid-configuration', '$.args'),
      failure({ table: 'color', is_enum: 'yes' }, 'parse-failed', '$.args.is_enum'),
    ],
  },
  set_ext_federation_config: {
    args: { table: 'author', ext_federation_config: { enable: 'v1' } },
    fails: [
      failure({ table: 'author', ext_federation_config: { enable: 'v9' } }, 'parse-failed', '$.args.ext_federation_config.enable'),
      failure({ table: 'tag', ext_federation_config: null }, 'not-exists', '$.args'),
    ],
  },
  track_function: {
    args: { function: 'late_articles' },
    fails: [
      failure({ function: 'search_articles' }, 'already-tracked', '$.args'),
      failure({ function: 'strip' }, 'invalid-configuration', '$.args'),
      failure({ function: 'nothing' }, 'invalid-configuration', '$.args'),
    ],
  },
  untrack_function: {
    args: { function: 'search_articles' },
    fails: [failure({ function: 'late_articles' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  set_function_customization: {
    args: { function: 'search_articles', configuration: { custom_name: 'find_articles' } },
    fails: [
      failure({ function: 'late_articles', configuration: {} }, 'not-exists', '$.args'),
      failure({ function: 'search_articles', configuration: { custom_name: 'author' } }, 'unexpected', '$.args'),
    ],
  },
  create_function_permission: {
    args: { function: 'search_articles', role: 'manager' },
    fails: [
      failure({ function: 'search_articles', role: 'user' }, 'already-exists', '$.args'),
      failure({ function: 'search_articles', role: 'editor' }, 'not-supported', '$.args'),
      failure({ function: 'late_articles', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_function_permission: {
    args: { function: 'search_articles', role: 'user' },
    fails: [
      failure({ function: 'search_articles', role: 'editor' }, 'not-exists', '$.args'),
      failure({ function: 'late_articles', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  create_object_relationship: {
    args: {
      table: 'article',
      name: 'writer',
      using: { manual_configuration: { remote_table: 'author', column_mapping: { author_id: 'id' } } },
    },
    fails: [
      failure({ table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } }, 'already-exists', '$.args'),
      failure({ table: 'article', name: 'other', using: { foreign_key_constraint_on: 'title' } }, 'invalid-configuration', '$.args'),
      failure({ table: 'article', name: 'title', using: { foreign_key_constraint_on: 'author_id' } }, 'already-exists', '$.args'),
    ],
  },
  create_remote_relationship: {
    args: { table: 'author', name: 'namesakes', definition: toSource('array', 'article', { id: 'author_id' }) },
    fails: [
      failure(
        { table: 'author', name: 'articles', definition: toSource('array', 'article', { id: 'author_id' }) },
        'already-exists',
        '$.args',
      ),
      failure(
        { table: 'author', name: 'x', definition: toSource('array', 'article', { nothing: 'id' }) },
        'invalid-configuration',
        '$.args',
      ),
      failure({ table: 'author', name: 'x', definition: {} }, 'parse-failed', '$.args.definition'),
    ],
  },
  update_remote_relationship: {
    args: { table: 'color', name: 'same', definition: toSource('array', 'color', { value: 'comment' }) },
    fails: [
      failure({ table: 'color', name: 'none', definition: toSource('array', 'color', { value: 'value' }) }, 'not-exists', '$.args'),
      failure(
        { table: 'color', name: 'same', definition: toSource('array', 'none', { value: 'value' }) },
        'invalid-configuration',
        '$.args',
      ),
    ],
  },
  delete_remote_relationship: {
    args: { table: 'color', name: 'same' },
    fails: [
      failure({ table: 'color', name: 'none' }, 'not-exists', '$.args'),
      failure({ table: 'none', name: 'same' }, 'not-exists', '$.args'),
    ],
  },
  create_array_relationship: {
    args: {
      table: 'author',
      name: 'works',
      using: { manual_configuration: { remote_table: 'article', column_mapping: { id: 'author_id' } } },
    },
    fails: [
      failure(
        { table: 'author', name: 'tags', using: { foreign_key_constraint_on: { table: 'tag', column: 'article_id' } } },
        'invalid-configuration',
        '$.args',
      ),
      failure(
        { table: 'tag', name: 'x', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } },
        'not-exists',
        '$.args',
      ),
    ],
  },
  drop_relationship: {
    args: { table: 'author', relationship: 'articles' },
    fails: [
      failure({ table: 'author', relationship: 'nothing' }, 'not-exists', '$.args'),
      failure({ table: 'article', relationship: 'author' }, 'dependency-error', '$.args'),
    ],
  },
  rename_relationship: {
    args: { table: 'article', name: 'author', new_name: 'writer' },
    fails: [
      failure({ table: 'article', name: 'nothing', new_name: 'x' }, 'not-exists', '$.args'),
      failure({ table: 'article', name: 'author', new_name: 'title' }, 'already-exists', '$.args'),
    ],
  },
  set_relationship_comment: {
    args: { table: 'article', relationship: 'author', comment: 'who wrote it' },
    fails: [
      failure({ table: 'article', relationship: 'nothing', comment: null }, 'not-exists', '$.args'),
      failure({ table: 'article', relationship: 'author', comment: 1 }, 'parse-failed', '$.args.comment'),
    ],
  },
  add_computed_field: {
    args: { table: 'author', name: 'twice', definition: { function: 'author_twice' } },
    fails: [
      failure({ table: 'author', name: 'label', definition: { function: 'author_label' } }, 'already-exists', '$.args.name'),
      failure({ table: 'author', name: 'other', definition: { function: 'strip' } }, 'invalid-configuration', '$.args'),
      failure({ table: 'tag', name: 'other', definition: { function: 'author_label' } }, 'not-exists', '$.args.table'),
    ],
  },
  drop_computed_field: {
    args: { table: 'author', name: 'label', cascade: true },
    fails: [
      failure({ table: 'author', name: 'nothing' }, 'not-exists', '$.args.name'),
      failure({ table: 'author', name: 'label' }, 'dependency-error', '$.args'),
    ],
  },
  create_select_permission: {
    args: { table: 'article', role: 'editor', permission: anyColumns },
    fails: [
      failure({ table: 'article', role: 'user', permission: anyColumns }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['nothing'], filter: {} } }, 'invalid-configuration', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['id'] } }, 'parse-failed', '$.args.permission'),
    ],
  },
  create_insert_permission: {
    args: { table: 'article', role: 'editor', permission: { check: { author: { id: { _eq: 'X-Svc-User-Id' } } }, columns: '*' } },
    fails: [
      failure({ table: 'article', role: 'user', permission: { check: {} } }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { check: { nothing: { _eq: 1 } } } }, 'invalid-configuration', '$.args'),
    ],
  },
  create_update_permission: {
    args: { table: 'article', role: 'editor', permission: { columns: ['title'], filter: {}, set: { author_id: 'X-Svc-User-Id' } } },
    fails: [
      failure({ table: 'tag', role: 'editor', permission: anyColumns }, 'not-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { columns: ['nothing'], filter: {} } }, 'invalid-configuration', '$.args'),
    ],
  },
  create_delete_permission: {
    args: { table: 'article', role: 'editor', permission: { filter: { id: { _gt: 1 } } } },
    fails: [
      failure({ table: 'article', role: 'admin', permission: { filter: {} } }, 'already-exists', '$.args'),
      failure({ table: 'article', role: 'editor', permission: { filter: { id: { _nothing: 1 } } } }, 'invalid-configuration', '$.args'),
    ],
  },
  drop_select_permission: {
    args: { table: 'author', role: 'editor' },
    from: withoutInheritedRoles(BASE),
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ table: 'nothing', role: 'user' }, 'not-exists', '$.args'),
    ],
  },
  drop_insert_permission: {
    args: { table: 'article', role: 'user' },
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ table: 'article' }, 'parse-failed', '$.args'),
    ],
  },
  drop_update_permission: {
    args: { table: 'article', role: 'user' },
    fails: [
      failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'),
      failure({ role: 'user' }, 'parse-failed', '$.args'),
    ],
  },
  drop_delete_permission: {
    args: { table: 'article', role: 'user' },
    fails: [failure({ table: 'article', role: 'editor' }, 'permission-denied', '$.args'), failure('article', 'parse-failed', '$.args')],
  },
  set_permission_comment: {
    args: { table: 'article', role: 'user', permission: 'select', comment: 'own articles only' },
    fails: [
      failure({ table: 'article', role: 'editor', permission: 'select', comment: null }, 'permission-denied', '$.args'),
      failure({ table: 'article', role: 'user', permission: 'drop', comment: null }, 'parse-failed', '$.args.permission'),
    ],
  },
  get_source_tables: {
    args: { source: 'default' },
    fails: [failure({ source: 'nothing' }, 'not-exists', '$.args'), failure({ source: 1 }, 'parse-failed', '$.args.source')],
  },
  get_table_info: {
    args: { source: 'default', table: 'tag' },
    fails: [failure({ source: 'nothing', table: 'tag' }, 'not-exists', '$.args'), failure({ source: 'default' }, 'parse-failed', '$.args')],
  },
  suggest_relationships: {
    args: { source: 'default', omit_tracked: false },
    fails: [failure({ source: 'nothing' }, 'not-exists', '$.args'), failure({ omit_tracked: 1 }, 'parse-failed', '$.args.omit_tracked')],
  },
};

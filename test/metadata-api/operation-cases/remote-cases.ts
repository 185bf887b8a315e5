/** Remote schemas, their permissions and their relationships. */
import type { JsonObject } from '../../../src/util/json.ts';
import { BASE } from './base.ts';
import { type Case, failure, toSource } from './case.ts';

const WITH_REMOTE_SCHEMA: JsonObject = {
  ...BASE,
  remote_schemas: [{ name: 'countries', definition: { url_from_env: 'COUNTRIES_URL' } }],
};
const PEOPLE = toSource('array', 'author', { code: 'name' });
const WITH_TYPE_RELATIONSHIP: JsonObject = {
  ...BASE,
  remote_schemas: [
    {
      name: 'countries',
      definition: { url_from_env: 'COUNTRIES_URL' },
      remote_relationships: [{ type_name: 'Country', relationships: [{ name: 'people', definition: PEOPLE }] }],
    },
  ],
};
const COUNTRY_SCHEMA = 'type Query { country(code: ID!): String }';
const WITH_REMOTE_PERMISSION: JsonObject = {
  ...BASE,
  remote_schemas: [
    {
      name: 'countries',
      definition: { url_from_env: 'COUNTRIES_URL' },
      permissions: [{ role: 'user', definition: { schema: COUNTRY_SCHEMA } }],
    },
  ],
};

export const REMOTE_SCHEMAS: Readonly<Record<string, Case>> = {
  add_remote_schema: {
    args: { name: 'countries', definition: { url_from_env: 'COUNTRIES_URL' } },
    fails: [
      failure({ name: 'countries' }, 'parse-failed', '$.args'),
      failure({ name: 'countries', definition: { url_from_env: 'NOT_SET' } }, 'not-found', '$.args'),
      failure({ name: 'countries', definition: { url: 'http://127.0.0.1:1/' } }, 'remote-schema-error', '$.args'),
      failure({ name: 'countries', definition: { url: 'nowhere' } }, 'invalid-params', '$.args'),
    ],
  },
  update_remote_schema: {
    args: { name: 'countries', definition: { url_from_env: 'COUNTRIES_URL', timeout_seconds: 5 } },
    from: WITH_REMOTE_SCHEMA,
    fails: [
      failure({ name: 'others', definition: { url_from_env: 'COUNTRIES_URL' } }, 'not-exists', '$.args'),
      failure({ name: 'countries', definition: { url: 'nowhere' } }, 'invalid-params', '$.args'),
    ],
  },
  remove_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  reload_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    keepsMetadata: true,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  introspect_remote_schema: {
    args: { name: 'countries' },
    from: WITH_REMOTE_SCHEMA,
    fails: [failure({ name: 'others' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  create_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people', definition: PEOPLE },
    from: WITH_REMOTE_SCHEMA,
    fails: [
      failure({ remote_schema: 'none', type_name: 'Country', name: 'people', definition: PEOPLE }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', type_name: 'None', name: 'people', definition: PEOPLE }, 'invalid-configuration', '$.args'),
    ],
  },
  update_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people', definition: toSource('object', 'author', { code: 'name' }) },
    from: WITH_TYPE_RELATIONSHIP,
    fails: [
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'none', definition: PEOPLE }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'people' }, 'parse-failed', '$.args'),
    ],
  },
  delete_remote_schema_remote_relationship: {
    args: { remote_schema: 'countries', type_name: 'Country', name: 'people' },
    from: WITH_TYPE_RELATIONSHIP,
    fails: [
      failure({ remote_schema: 'countries', type_name: 'Country', name: 'none' }, 'not-exists', '$.args'),
      failure({ remote_schema: 'none', type_name: 'Country', name: 'people' }, 'not-exists', '$.args'),
    ],
  },
  add_remote_schema_permissions: {
    args: { remote_schema: 'countries', role: 'editor', definition: { schema: COUNTRY_SCHEMA }, comment: 'all of it' },
    from: WITH_REMOTE_PERMISSION,
    fails: [
      failure({ remote_schema: 'others', role: 'editor', definition: { schema: COUNTRY_SCHEMA } }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'user', definition: { schema: COUNTRY_SCHEMA } }, 'already-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'admin', definition: { schema: COUNTRY_SCHEMA } }, 'constraint-violation', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor', definition: { schema: 'type' } }, 'parse-failed', '$.args.definition.schema'),
      failure({ remote_schema: 'countries', role: 'editor', definition: { schema: 'type A' } }, 'validation-failed', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor', definition: {} }, 'parse-failed', '$.args.definition'),
    ],
  },
  drop_remote_schema_permissions: {
    args: { remote_schema: 'countries', role: 'user' },
    from: WITH_REMOTE_PERMISSION,
    fails: [
      failure({ remote_schema: 'others', role: 'user' }, 'not-exists', '$.args'),
      failure({ remote_schema: 'countries', role: 'editor' }, 'not-exists', '$.args'),
    ],
  },
};

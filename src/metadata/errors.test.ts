import { expect, test } from 'vitest';
import { testKind, testKinds } from '../../test/support/kinds.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import { along, ROOT } from '../util/path.ts';
import type { Codec } from './codec.ts';
import { decodeDocument } from './document.ts';
import { functionConfigurationCodec } from './function.ts';
import { inheritedRoleCodec, newInheritedRoleCodec } from './inherited-role.ts';
import { EMPTY_METADATA, metadataCodec, sourceCodec } from './metadata.ts';
import { permissionEntryCodec, selectPermissionCodec, updatePermissionCodec } from './permission.ts';
import { arrayRelationshipCodec, objectRelationshipCodec } from './relationship.ts';
import { healthCheckCodec, sourceCustomizationCodec } from './source.ts';
import { tableCodec } from './table.ts';
import { withRules } from './decode-rules.ts';
import { tableConfigurationCodec } from './table-configuration.ts';

const ARGS = along(ROOT, 'args');
const object = objectRelationshipCodec(testKind);
const array = arrayRelationshipCodec(testKind);
const table = tableCodec(testKind);
const select = permissionEntryCodec(selectPermissionCodec);

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return `${error.code} ${error.printedPath}: ${error.message}`;
    throw error;
  }
  return 'no failure';
}

const permission = (fields: object): Json => ({ role: 'user', permission: { columns: [], filter: {}, ...fields } as Json });
const rel = (using: Json): Json => ({ name: 'r', using });
const entry = (fields: object): Json => ({ table: 't', ...fields }) as Json;
const duplicated = [rel({ foreign_key_constraint_on: 'a' }), rel({ foreign_key_constraint_on: 'b' })];

const cases: readonly [Codec<never> | Codec<any>, Json, string][] = [
  [object, 'text', '$.args: parsing RelDef failed, expected Object, but encountered String'],
  [object, {}, "$.args: the key 'name' was not present"],
  [object, { name: '', using: {} }, '$.args.name: empty string not allowed'],
  [object, { name: 'r\u0000', using: {} }, '$.args.name: U+0000 and unpaired surrogates are not allowed'],
  [object, { name: 'r\ud800', using: {} }, '$.args.name: U+0000 and unpaired surrogates are not allowed'],
  [object, rel({}), '$.args.using: atleast one of "foreign_key_constraint_on" and "manual_configuration" should be present'],
  [
    object,
    rel({ foreign_key_constraint_on: 'a', manual_configuration: {} }),
    '$.args.using: only one of "foreign_key_constraint_on" and "manual_configuration" should be present',
  ],
  [
    object,
    rel({ foreign_key_constraint_on: [] }),
    '$.args.using.foreign_key_constraint_on: parsing NonEmpty failed, unexpected empty list',
  ],
  [
    object,
    rel({ foreign_key_constraint_on: ['a', 1] }),
    '$.args.using.foreign_key_constraint_on[1]: parsing Text failed, expected String, but encountered Number',
  ],
  [array, rel({ foreign_key_constraint_on: 'a' }), '$.args.using.foreign_key_constraint_on: Expecting object { table, columns }.'],
  [
    array,
    rel({ foreign_key_constraint_on: { table: 't' } }),
    "$.args.using.foreign_key_constraint_on: expected exactly one of 'column' or 'columns'",
  ],
  [
    array,
    rel({ foreign_key_constraint_on: { table: 't', column: 'a', columns: ['a'] } }),
    "$.args.using.foreign_key_constraint_on: expected exactly one of 'column' or 'columns'",
  ],
  [
    array,
    rel({ manual_configuration: { remote_table: 't' } }),
    "$.args.using.manual_configuration: the key 'column_mapping' was not present",
  ],
  [select, { role: 'user' }, "$.args: the key 'permission' was not present"],
  [select, permission({ columns: 'a' }), '$.args.permission.columns: parsing [] failed, expected Array, but encountered String'],
  [select, permission({ filter: null }), '$.args.permission.filter: parsing BoolExp failed, expected Object, but encountered Null'],
  [select, permission({ limit: -1 }), '$.args.permission.limit: unexpected negative value'],
  [select, permission({ limit: '1' }), '$.args.permission.limit: parsing Int failed, expected Number, but encountered String'],
  [
    select,
    permission({ allow_aggregations: 1 }),
    '$.args.permission.allow_aggregations: parsing Bool failed, expected Boolean, but encountered Number',
  ],
  [
    select,
    permission({ query_root_fields: ['select_stream'] }),
    '$.args.permission.query_root_fields[0]: unexpected value "select_stream" for RootField; expecting one of select, select_by_pk, select_aggregate',
  ],
  [
    updatePermissionCodec,
    { columns: '*', filter: {}, validate_input: { type: 'http', definition: {} } },
    "$.args.validate_input.definition: the key 'url' was not present",
  ],
  [
    tableConfigurationCodec,
    { custom_root_fields: { select: 'a', insert: { name: 'b' }, update: 'b', delete: 'a' } },
    '$.args.custom_root_fields: the following custom root field names are duplicated: a and b',
  ],
  [tableConfigurationCodec, { custom_name: 'a-b' }, '$.args.custom_name: a-b is not valid GraphQL name'],
  [
    sourceCustomizationCodec,
    { naming_convention: 'other' },
    '$.args.naming_convention: naming_convention can either be "svc-default" or "graphql-default"',
  ],
  [sourceCustomizationCodec, { root_fields: { prefix: '1a' } }, '$.args.root_fields.prefix: 1a is not valid GraphQL name'],
  [healthCheckCodec, {}, "$.args: the key 'interval' was not present"],
  [
    table,
    entry({ tabel: 1, odd: 2 }),
    '$.args.tabel: unknown key "tabel": did you mean "table"?; unknown key "odd": expecting one of table, is_enum, configuration, object_relationships, array_relationships, computed_fields, remote_relationships, insert_permissions, select_permissions, update_permissions, delete_permissions, event_triggers, ext_federation_config',
  ],
  [
    table,
    entry({ object_relationships: duplicated }),
    '$.args.object_relationships: multiple declarations exist for the following object relationships: r',
  ],
  [
    table,
    entry({ select_permissions: [permission({}), permission({})] }),
    '$.args.select_permissions: multiple declarations exist for the following select permissions: user',
  ],
  [
    sourceCodec(testKinds),
    { name: 's', kind: 'none', tables: [], configuration: {} },
    '$.args.kind: unknown source kind "none"; expecting one of pg, dwh',
  ],
  [sourceCodec(testKinds), { name: 's', tables: [], configuration: {} }, "$.args.configuration: the key 'connection_info' was not present"],
  [
    sourceCodec(testKinds),
    {
      name: 's',
      tables: [
        { table: 't' },
        { table: { name: 't', schema: 'public' } },
        { table: { name: 'u', schema: 'x' } },
        { table: { name: 'u', schema: 'x' } },
      ],
      configuration: {},
    },
    '$.args.tables: multiple declarations exist for the following tables: t, x.u',
  ],
  [metadataCodec(testKinds), {}, "$.args: the key 'sources' was not present"],
  [
    newInheritedRoleCodec,
    { role_name: 'r', role_set: ['a', 'a'] },
    '$.args.role_set: an inherited role needs at least two distinct parent roles',
  ],
];

test.each(cases)('%o rejects %j', (codec, json, expected) => {
  expect(failure(() => (codec as Codec<unknown>).decode(json, withRules(ARGS, { refusesUnknown: true })))).toBe(`parse-failed ${expected}`);
});

test('some errors have codes other than parse-failed', () => {
  expect(failure(() => inheritedRoleCodec.decode({ role_name: 'a', role_set: ['a', 'b'] }, ROOT))).toBe(
    'invalid-params $.role_set: an inherited role name cannot be in the role combination',
  );
  expect(failure(() => functionConfigurationCodec.decode({ response: { type: 'table' } }, ROOT))).toBe(
    'not-supported $.response: the key "response" is not supported',
  );
});

test('rejects documents of unknown versions', () => {
  const decode = (json: Json) => failure(() => decodeDocument(json, ARGS, testKinds, EMPTY_METADATA));
  expect(decode({ version: 4 })).toBe('parse-failed $.args.version: expected 1, 2 or 3, encountered 4');
  expect(decode([])).toBe('parse-failed $.args: parsing Metadata failed, expected Object, but encountered Array');
  expect(decode({ tables: [] })).toBe('not-supported $.args: cannot import metadata without sources since no default source is defined');
});

import { Ajv, type ValidateFunction } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as arbitrary from '../../test/support/arbitrary-metadata.ts';
import { runs } from '../../test/support/deep.ts';
import { testKinds } from '../../test/support/kinds.ts';
import { metadataKinds } from '../app/metadata-kinds.ts';
import { encodeDocument } from '../metadata/encode-document.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { runSync } from '../util/cooperative.ts';
import { SECTIONS } from './directory/sections.ts';
import { projectSchemas, schemaOfFile } from './project-schemas.ts';
import type { KindCodecs, Kinds } from '../metadata/kinds.ts';

function validators(kinds: Kinds<KindCodecs>): (name: string) => ValidateFunction {
  const ajv = new Ajv({ strict: false, allErrors: true });
  for (const [name, schema] of projectSchemas(kinds)) ajv.addSchema(schema, name);
  return (name) => {
    const found = ajv.getSchema(name);
    if (found === undefined) throw new Error(`there is no schema ${name}`);
    return found;
  };
}

const schemas = validators(metadataKinds);

/** Returns the errors of a value, one line each. */
function errors(name: string, value: Json, from = schemas): readonly string[] {
  const validate = from(name);
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
}

it('accepts every document that the service exports', () => {
  const from = validators(testKinds);
  fc.assert(
    fc.property(arbitrary.metadata, (any) => {
      // Kinds that this version does not have are errors in the files, too.
      const metadata = { ...any, unknownSources: new Map() };
      const document = parseJson(printJson(runSync(encodeDocument(metadata, testKinds)))) as JsonObject;
      for (const { file, key } of SECTIONS) {
        const value = document[key];
        const name = schemaOfFile(file, () => undefined);
        if (value !== undefined && name !== undefined) expect(errors(name, value, from), printJson(value)).toEqual([]);
      }
      const { actions, custom_types: types } = document;
      expect(errors('actions.json', { ...(actions ? { actions } : {}), ...(types ? { custom_types: types } : {}) }, from)).toEqual([]);
    }),
    runs(100, 20),
  );
});

const TABLE = {
  table: { schema: 'public', name: 'author' },
  select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: {} } }],
  object_relationships: '!include author/object_relationships.yaml',
};

it('rejects a misspelt key in each kind of file, at any depth', () => {
  expect(errors('table.json', TABLE)).toEqual([]);
  expect(errors('table.json', { ...TABLE, select_permission: [] }).join()).toContain('select_permission"');
  const permission = { role: 'reader', permission: { colums: ['id'], filter: {} } };
  expect(errors('table.json', { ...TABLE, select_permissions: [permission] }).join()).toContain('colums');
  expect(errors('tables.json', ['!include public_author.yaml', TABLE])).toEqual([]);
  expect(errors('tables.json', ['public_author.yaml'])).not.toEqual([]);
  const source = { name: 'default', kind: 'postgres', configuration: { connection_info: { database_url: { from_env: 'A' } } } };
  expect(errors('databases.json', [{ ...source, tables: '!include default/tables/tables.yaml' }])).toEqual([]);
  expect(errors('databases.json', [{ ...source, tables: [], customisation: {} }]).join()).toContain('customisation');
  expect(errors('databases.json', [{ ...source, kind: 'postgrse', tables: [] }])).not.toEqual([]);
  expect(errors('cron_triggers.json', [{ name: 'a', webhook: 'http://a', schedule: '* * * * *', include_in_metadata: true }])).toEqual([]);
  expect(errors('cron_triggers.json', [{ name: 'a', webhock: 'http://a' }]).join()).toContain('webhock');
  expect(errors('actions.json', { actions: [{ name: 'a', definition: { kind: 'synchronous', handler: 'http://a' } }] })).toEqual([]);
  expect(errors('actions.json', { actions: [{ name: 'a', defnition: {} }] }).join()).toContain('defnition');
  expect(errors('config.json', { version: 3, endpont: 'http://localhost' }).join()).toContain('endpont');
  expect(errors('permission_tests.json', [{ name: 'a', as: { role: 'b' }, query: '{ a }', expect: { rows: 1 } }])).toEqual([]);
  expect(errors('permission_tests.json', [{ as: { role: 'b', sesion: {} } }]).join()).toContain('sesion');
  expect(errors('permission_tests.json', { tets: [] }).join()).toContain('tets');
});

it('has a schema of its own for the tables of each kind of database', () => {
  const names = [...projectSchemas(metadataKinds).keys()];
  for (const { kind } of metadataKinds.all) {
    const name = schemaOfFile('databases/a/tables/public_author.yaml', () => kind) ?? '';
    expect(names).toContain(name);
    expect(isJsonObject(schemas(name).schema as Json) && !isJsonArray(schemas(name).schema as Json)).toBe(true);
  }
});

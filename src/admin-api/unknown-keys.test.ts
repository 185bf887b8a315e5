import { describe, expect, it } from 'vitest';
import { backends } from '../databases/index.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { legacyEntries, legacyLanguage } from './query-language.ts';
import { metadataLanguage } from './metadata-language.ts';
import { operationTable } from './operation-table.ts';
import { decodeAdministration } from '../metadata-api/request.ts';
import { schemaEntries, schemaLanguage } from './schema-language.ts';

const table = operationTable(backends);
const entries = [...new Set([...table.values(), ...schemaEntries(backends).values(), ...legacyEntries(backends).values()])];

/**
 * Keys whose values are any JSON, or maps by names that the client chooses. Documents are decoded when they are loaded, previewed changes
 * when they run.
 */
const FREE = new Set([
  'argument_mapping',
  'payload',
  '$inc',
  '$mul',
  '$set',
  'values',
  'body',
  'changes',
  'check',
  'column_config',
  'column_mapping',
  'custom_column_names',
  'env',
  'filter',
  'form_template',
  'metadata',
  'objects',
  'per_role',
  'query_params',
  'session_variables',
  'set',
  'state',
  'user',
  'where',
]);
const UNKNOWN = 'zz_nobody_knows';

/** Yields the example once for every object in it, with an additional key, and the path of that key. */
function* withUnknownKey(json: Json, path = '$'): Iterable<{ readonly json: Json; readonly path: string }> {
  if (isJsonArray(json)) {
    for (const [i, item] of json.entries()) {
      for (const inner of withUnknownKey(item, `${path}[${i}]`)) yield { json: json.with(i, inner.json), path: inner.path };
    }
  } else if (isJsonObject(json)) {
    yield { json: { ...json, [UNKNOWN]: 1 }, path: `${path}.${UNKNOWN}` };
    for (const [key, value] of Object.entries(json)) {
      if (FREE.has(key)) continue;
      for (const inner of withUnknownKey(value, `${path}.${key}`)) yield { json: { ...json, [key]: inner.json }, path: inner.path };
    }
  }
}

function refusalOf(work: () => unknown): { code: string; path: string; message: string } | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof SvcError) return { code: error.code, path: error.printedPath, message: error.message };
    throw error;
  }
  return undefined;
}

describe('an unknown key', () => {
  const examples = entries.flatMap((entry) =>
    [...withUnknownKey(entry.documentation.example)].map(
      ({ json, path }) => [`${entry.type} ${entry.version} ${path}`, entry, json, path] as const,
    ),
  );

  it.each(examples)('is refused in %s', (_name, entry, json, path) => {
    expect(refusalOf(() => entry.prepare(json, ROOT))).toMatchObject({ code: 'parse-failed', path });
  });

  it('is tested for every operation with arguments', () => {
    expect(new Set(examples.map(([, entry]) => entry)).size).toBeGreaterThan(entries.length - 5);
  });

  const prepare = (type: string, args: Json) => refusalOf(() => table.get(type)?.prepare(args, ROOT));

  it.each<[string, JsonObject, string, string]>([
    [
      'pg_create_insert_permission',
      { table: 't', role: 'r', permission: { column: ['name'], check: {} } },
      '$.permission.column',
      'columns',
    ],
    ['pg_create_select_permission', { table: 't', role: 'r', permission: { columns: '*', fliter: {} } }, '$.permission.fliter', 'filter'],
    [
      'pg_create_select_permission',
      { table: 't', role: 'r', permission: { columns: '*', filter: {}, limmit: 1 } },
      '$.permission.limmit',
      'limit',
    ],
    [
      'pg_create_update_permission',
      { table: 't', role: 'r', permission: { columns: '*', filter: {}, chek: {} } },
      '$.permission.chek',
      'check',
    ],
    ['pg_track_function', { function: 'f', configuration: { session_arg: 's' } }, '$.configuration.session_arg', 'session_argument'],
    ['pg_track_table', { table: 't', configuration: { custom_nam: 'x' } }, '$.configuration.custom_nam', 'custom_name'],
    ['pg_track_table', { tabel: 't' }, '$.tabel', 'table'],
    ['pg_track_table', { table: { name: 't', shema: 's' } }, '$.table.shema', 'schema'],
    [
      'pg_create_object_relationship',
      { table: 't', name: 'r', using: { foreign_key_constraint: 'a' } },
      '$.using.foreign_key_constraint',
      'foreign_key_constraint_on',
    ],
    [
      'pg_add_source',
      { name: 's', configuration: { connection_info: { database_url: { from_en: 'X' } } } },
      '$.configuration.connection_info.database_url.from_en',
      'from_env',
    ],
  ])('in %s: %j is refused with a suggestion', (type, args, path, meant) => {
    expect(prepare(type, args)).toMatchObject({ code: 'parse-failed', path, message: expect.stringContaining(`did you mean "${meant}"?`) });
  });

  it('is refused as not supported if other engines support it', () => {
    const args = { function: 'f', configuration: { response: { type: 'table' } } };
    expect(prepare('pg_track_function', args)).toMatchObject({ code: 'not-supported', path: '$.configuration.response' });
  });

  it('is refused beside the type and the arguments, also in elements of a bulk', () => {
    const languages = [metadataLanguage(table, backends), schemaLanguage(backends), legacyLanguage(table, backends)];
    for (const language of languages) {
      const refusal = (body: Json) => refusalOf(() => decodeAdministration(body, language));
      expect(refusal({ tipe: 'bulk', args: [] })).toMatchObject({ path: '$.tipe', message: 'unknown key "tipe": did you mean "type"?' });
      expect(refusal({ type: 'bulk', args: [], source: 'default' })).toMatchObject({ path: '$.source' });
      const element = language.argsInParsePath ? '$.args[0]' : '$[0]';
      expect(refusal({ type: 'bulk', args: [{ type: 'bulk', args: [], sorce: 1 }] })).toMatchObject({ path: `${element}.sorce` });
    }
  });

  it('does not include older spellings of known keys', () => {
    expect(prepare('pg_set_permission_comment', { table: 't', role: 'r', type: 'select' })).toBeUndefined();
    expect(prepare('pg_track_table', { table: 't', schema: 's' })).toBeUndefined();
    expect(prepare('pg_track_table', { table: 't', configuration: { identifier: 'x', custom_column_names: { a: 'b' } } })).toBeUndefined();
  });
});

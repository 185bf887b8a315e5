import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as arbitrary from '../../test/support/arbitrary-metadata.ts';
import { runs } from '../../test/support/deep.ts';
import { testKind, testKinds } from '../../test/support/kinds.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonObject, type Json, jsonEqual, type JsonObject } from '../util/json.ts';
import { along, ROOT } from '../util/path.ts';
import { functionCodec, withoutPermission } from './function.ts';
import { withRules } from './decode-rules.ts';
import { metadataCodec } from './metadata.ts';
import { fromPieces } from './pieces.ts';
import { toPieces } from '../../test/support/metadata-pieces.ts';
import { tableCodec } from './table.ts';
import { tableConfigurationCodec } from './table-configuration.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { unknownParts, withoutUnknownParts } from './unknown-parts.ts';
import { hasUnknownKeys } from './unknown-keys.ts';

const codec = metadataCodec(testKinds);

/** Values whose keys are names, or are read elsewhere. */
const FREE = new Set([
  'remote_field',
  'column_mapping',
  'column_config',
  'custom_column_names',
  'per_role',
  'filter',
  'check',
  'set',
  'odd',
  'form_template',
  'add_headers',
  'query_params',
  'mapping',
  'table',
  'field_mapping',
  'payload',
  'metrics_config',
  'remote_table',
]);
/** Opaque to the kind that tests use. */
const OPAQUE = new Set(['configuration']);

/** Yields the path of every object whose keys are read by a codec. */
function* objectsOf(json: Json, path: readonly (string | number)[] = []): Iterable<readonly (string | number)[]> {
  if (isJsonArray(json)) for (const [i, item] of json.entries()) yield* objectsOf(item, [...path, i]);
  else if (isJsonObject(json)) {
    yield path;
    for (const [key, value] of Object.entries(json)) {
      const inTable = path.at(-2) === 'tables' || path.at(-2) === 'functions';
      const ofActionPermission = key === 'definition' && path[0] === 'actions' && path.at(-2) === 'permissions';
      if (!FREE.has(key) && !ofActionPermission && (!OPAQUE.has(key) || inTable)) yield* objectsOf(value, [...path, key]);
    }
  }
}

function withKey(json: Json, [step, ...below]: readonly (string | number)[], key: string, value: Json): Json {
  if (step === undefined) return { ...(json as JsonObject), [key]: value };
  if (isJsonArray(json)) return json.with(step as number, withKey(json[step as number] as Json, below, key, value));
  return { ...(json as JsonObject), [step]: withKey((json as JsonObject)[step] as Json, below, key, value) };
}

const misspelt = fc.constantFrom('fliter', 'zz', '__proto__', 'a b');

describe('a document with unknown keys', () => {
  test('preserves every key, also in pieces', () => {
    fc.assert(
      fc.property(
        arbitrary.metadata,
        fc.array(fc.tuple(fc.nat(), misspelt, fc.constantFrom<Json>(1, {}, [{ name: 'n' }])), { minLength: 1, maxLength: 3 }),
        (metadata, keys) => {
          let json = codec.encode(metadata);
          for (const [at, key, value] of keys) {
            const places = [...objectsOf(json)];
            json = withKey(json, places[at % places.length] as readonly (string | number)[], key, value);
          }
          const decoded = codec.decode(json, ROOT);
          expect(jsonEqual(codec.encode(decoded), json)).toBe(true);
          const stored = fromPieces(toPieces(decoded, testKinds), testKinds);
          expect(jsonEqual(codec.encode(stored), json)).toBe(true);
          expect(() => codec.decode(json, withRules(ROOT, { refusesUnknown: true }))).toThrow(/unknown (key|source kind)|not supported/);
        },
      ),
      runs(1_000, 30),
    );
  });

  test('preserves keys in nested lists', () => {
    const relationship = (name: string): Json => ({
      name,
      definition: { to_source: { relationship_type: 'object', source: 's', table: 't', field_mapping: {} } },
    });
    let document: Json = {
      version: 3,
      sources: [],
      remote_schemas: [
        { name: 'r', definition: { url: 'u' }, remote_relationships: [{ type_name: 'A', relationships: ['a', 'b'].map(relationship) }] },
      ],
    };
    document = codec.encode(codec.decode(document, ROOT));
    const inner = ['remote_schemas', 0, 'remote_relationships', 0, 'relationships', 1, 'definition'];
    for (const place of [inner, [...inner, 'to_source']]) {
      const json = withKey(document, place, 'fliter', 1);
      expect(codec.encode(codec.decode(json, ROOT))).toEqual(json);
    }
  });

  test('preserves unsupported keys, and drops empty ones', () => {
    const document = {
      version: 3,
      sources: [
        {
          name: 's',
          kind: 'pg',
          tables: [],
          configuration: { connection_info: 1 },
          native_queries: [{ root_field_name: 'q', code: 'select 1' }],
          logical_models: [],
        },
      ],
      metrics_config: { analyze_query_variables: true, analyze_response_body: false },
      opentelemetry: {},
      backend_configs: { dataconnector: {} },
    };
    const { sources, opentelemetry: _, backend_configs: __, ...rest } = document;
    const [{ logical_models: ___, ...source }] = sources as [(typeof sources)[0]];
    expect(codec.encode(codec.decode(document as unknown as Json, ROOT))).toEqual({ ...rest, sources: [source] });
  });
});

test('an error has the path of the unknown key and suggests a similar key', () => {
  const table = {
    table: 't',
    select_permissions: [{ role: 'user', permission: { columns: [], filter: {}, limmit: 1 } }],
  };
  const refusal = (): string => {
    try {
      tableCodec(testKind).decode(table, withRules(along(ROOT, 'args'), { refusesUnknown: true }));
    } catch (error) {
      if (error instanceof SvcError) return `${error.code} ${error.printedPath}: ${error.message}`;
    }
    return 'none';
  };
  expect(refusal()).toBe('parse-failed $.args.select_permissions[0].permission.limmit: unknown key "limmit": did you mean "limit"?');
});

test('an unknown key is preserved in an object that has a shorter form without it', () => {
  const json = { custom_root_fields: { select: { name: 'all', coment: 'x' } } };
  const configuration = preserveUnknownKeys(tableConfigurationCodec);
  expect(configuration.encode(configuration.decode(json, ROOT))).toMatchObject(json);
});

test('an unknown key follows its entry when a list is sorted, and is removed with it', () => {
  const functions = functionCodec(testKind);
  const json: Json = { function: 'f', permissions: [{ role: 'b', odd: 1 }, { role: 'a' }] };
  const decoded = functions.decode(json, ROOT);
  expect(functions.encode(decoded)).toMatchObject({ permissions: [{ role: 'a' }, { role: 'b', odd: 1 }] });
  const less = withoutPermission(decoded, 'b');
  expect(hasUnknownKeys(less)).toBe(false);
  expect(functions.encode(less)).toMatchObject({ permissions: [{ role: 'a' }] });
});

test('unknown parts are listed and dropped individually', () => {
  const table = tableCodec(testKind).decode({ table: 't', hooks: [{ name: 'a' }, { name: 'b' }], odd: 1 }, ROOT);
  expect(unknownParts(table).map(({ key, name }) => [key, name])).toEqual([
    ['hooks', 'a'],
    ['hooks', 'b'],
    ['odd', 'odd'],
  ]);
  const less = withoutUnknownParts(table, (_, name) => name === 'a');
  expect(tableCodec(testKind).encode(less)).toMatchObject({ hooks: [{ name: 'b' }], odd: 1 });
  expect(withoutUnknownParts(table, () => false)).toBe(table);
  expect(hasUnknownKeys(withoutUnknownParts(table, () => true))).toBe(false);
});

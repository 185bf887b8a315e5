/** Every operation exists and is documented: over HTTP it succeeds once and fails in two ways that the reference lists. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backends } from '../../src/databases/index.ts';
import {
  describeLegacyOperations,
  describeOperations,
  describeSchemaOperations,
  type OperationDescription,
  renamedOperations,
} from '../../src/admin-api/describe-operations.ts';
import type { OperationErrors } from '../../src/metadata-api/operation-error.ts';
import { isJsonArray, type Json, type JsonObject } from '../../src/util/json.ts';
import { CASES as OF_MARIADB } from '../mariadb/operation-cases.ts';
import { CASES as OF_BIGQUERY } from '../bigquery/operation-cases.ts';
import { DEEP, sample } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { BASE, ROWS, SCHEMA } from './operation-cases/base.ts';
import type { Case } from './operation-cases/case.ts';
import { PREFIXED, UNPREFIXED } from './operation-cases/cases.ts';
import { ofCitus } from './operation-cases/citus.ts';
import { QUERY_CASES, SCHEMA_CASES } from './operation-cases/query-cases.ts';
import { type Endpoint, SPECIFIED } from './operation-cases/specified.ts';

/**
 * Operations of the database kind of every run, with its other prefix, and of Citus; `test/mariadb` and `test/bigquery` cover the others.
 */
const PREFIXES = ['pg', 'postgres'];

/** Operation types, with `:2` for the second form of one. */
const nameOf = ({ type, version }: OperationDescription): string => (version === 1 ? type : `${type}:${version}`);
const typeOf = (name: string): string => name.split(':')[0] ?? name;
const byName = (descriptions: readonly OperationDescription[]): ReadonlyMap<string, OperationDescription> =>
  new Map(descriptions.map((description) => [nameOf(description), description]));

const metadataOperations = byName(describeOperations(backends));
const metadataCases = new Map<string, Case>([
  ...PREFIXES.flatMap((prefix) => Object.entries(PREFIXED).map(([name, each]) => [`${prefix}_${name}`, each] as const)),
  ...Object.entries(PREFIXED)
    .filter(([name]) => metadataOperations.has(`dbc_${name}`))
    .map(([name, each]) => [`dbc_${name}`, ofCitus(each)] as const),
  ...Object.entries(UNPREFIXED),
]);
/** Operations of the metadata API under their old names, in all forms. */
const renamed = renamedOperations(backends).flatMap(([legacy, type]) =>
  [...metadataOperations.keys()].filter((name) => typeOf(name) === type).map((name) => [name.replace(type, legacy), name] as const),
);

/**
 * A short run tries a quarter of the operations, which depend on the seed. Other spellings and old names reach the same operations:
 * a run tries few of them and checks that the rest exists.
 */
const spelledAgain = new Set(
  [...metadataCases.keys()]
    .filter((name) => name.startsWith('postgres_') || name.startsWith('dbc_'))
    .concat(renamed.map(([legacy]) => legacy)),
);
const spelledOnce = [...metadataCases.keys(), ...Object.keys(QUERY_CASES), ...Object.keys(SCHEMA_CASES)].filter(
  (name) => !spelledAgain.has(name),
);
const tried = new Set([...sample([...spelledAgain], 5), ...sample(spelledOnce, Math.ceil(spelledOnce.length / 4))]);
const isRun = (name: string): boolean => DEEP || tried.has(name);

interface Covered {
  readonly operations: ReadonlyMap<string, OperationDescription>;
  readonly cases: ReadonlyMap<string, Case>;
}

const ENDPOINTS: Readonly<Record<Endpoint, Covered>> = {
  '/v1/metadata': { operations: metadataOperations, cases: metadataCases },
  '/v1/query': {
    operations: new Map([
      ...byName(describeLegacyOperations(backends)),
      ...renamed.map(([legacy, name]) => [legacy, metadataOperations.get(name) as OperationDescription] as const),
    ]),
    cases: new Map([
      ...Object.entries(QUERY_CASES),
      ...renamed.map(([legacy, name]) => [legacy, metadataCases.get(name) as Case] as const),
    ]),
  },
  '/v2/query': { operations: byName(describeSchemaOperations(backends)), cases: new Map(Object.entries(SCHEMA_CASES)) },
};

let service: TestService;
let countries: GraphqlServer;
let database: pg.Client;

beforeAll(async () => {
  countries = await startGraphqlServer('type Query { country(code: ID!): String home: Country } type Country { code: String! }');
  service = await startTestService(
    { LEGACY_ROWS_FOR_ALL_ROLES: 'true', INFER_FUNCTION_PERMISSIONS: 'false', ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' },
    { COUNTRIES_URL: countries.url },
  );
  await service.sql(SCHEMA);
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await service.stop();
  await countries.close();
});

const post = (path: string, body: JsonObject, role?: string): Promise<Answer> =>
  service.send(path, { method: 'POST', body: JSON.stringify(body), headers: role === undefined ? {} : { 'x-svc-role': role } });

const READ_ROWS = `select (select json_agg(t) from author t) a, (select json_agg(t) from article t) b, (select json_agg(t) from color t) c`;

/** The state that a rejected operation must leave unchanged. */
const stored = async (): Promise<{ version: number; metadata: string; rows: string }> => {
  const { resource_version, metadata } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
  const rows = JSON.stringify((await database.query(READ_ROWS)).rows);
  return { version: Number(resource_version), metadata: JSON.stringify(metadata), rows };
};

/** Exported metadata by applied document. */
const applied = new Map<Json, string>();

/** Restores the metadata and the rows of the start of a case if they differ. @returns the stored metadata */
async function begin(from: Json): ReturnType<typeof stored> {
  await database.query(ROWS);
  const found = await stored();
  if (found.metadata === applied.get(from)) return found;
  await service.metadata('replace_metadata', { metadata: from, allow_inconsistent_metadata: true }, { version: 2 });
  // The tables of events exist only now.
  await database.query(ROWS);
  const begun = await stored();
  applied.set(from, begun.metadata);
  return begun;
}

it('has a case for each of the 126 specified operations of the metadata API, for any database kind', () => {
  const ofOthers = [...OF_MARIADB.map(([name]) => `dbb_${name}`), ...OF_BIGQUERY.map(([name]) => `dwh_${name}`)];
  const tried = new Set([...[...metadataCases.keys()].map(typeOf), ...ofOthers]);
  const specified = SPECIFIED['/v1/metadata'];
  expect(specified.filter((type) => !tried.has(type))).toEqual([]);
  expect(specified).toHaveLength(126);
  // No case for an operation that does not exist.
  expect(ofOthers.filter((name) => !metadataOperations.has(name) && !name.endsWith('_run_sql'))).toEqual([]);
});

describe.each(Object.entries(ENDPOINTS) as [Endpoint, Covered][])('%s', (path, { operations, cases }) => {
  const specified = SPECIFIED[path];
  const existing = new Set([...operations.keys()].map(typeOf));

  it('implements every specified operation', () => {
    expect(specified.filter((type) => !existing.has(type))).toEqual([]);
    expect(new Set(specified).size).toBe(specified.length);
  });

  it('has a case for every operation', () => {
    const here = [...operations.keys()].filter((name) => !/^(?:dbb|dwh)_/.test(name));
    expect([...cases.keys()].sort()).toEqual(here.sort());
  });

  /** The operation itself and the elements of a bulk. */
  const listedErrors = (name: string, args: Json): OperationErrors => {
    const elements = isJsonArray(args) ? args.map((element) => (element as JsonObject)['type']) : [];
    return [name, ...elements].flatMap((each) => operations.get(String(each))?.errors ?? []);
  };

  describe.each([...cases].filter(([name]) => isRun(name)))('%s', (name, each) => {
    const request = (args: Json, extra: JsonObject = {}, role?: string): Promise<Answer> =>
      post(path, { type: typeOf(name), args, ...(each.version === undefined ? {} : { version: each.version }), ...extra }, role);
    const from = each.from ?? BASE;

    it('succeeds', async () => {
      const before = await begin(from);
      const answer = await request(each.args);
      expect(answer.status, answer.text).toBe(200);
      const after = await stored();
      // A bulk changes whatever its elements change.
      const changes = operations.get(name)?.changes ?? (path === '/v2/query' ? 'database' : 'metadata');
      expect(after.version).toBe(before.version + (changes === 'metadata' ? 1 : 0));
      if (changes !== 'metadata' || each.keepsMetadata === true) expect(after.metadata).toBe(before.metadata);
      else expect(after.metadata).not.toBe(before.metadata);
      if (changes === 'nothing') expect(after.rows).toBe(before.rows);
    });

    it('fails and changes nothing', async () => {
      const before = await begin(from);
      for (const { args, code, path: place, extra, role, late } of each.fails) {
        const answer = await request(args, extra, role);
        // The paths of argument errors begin at the arguments there.
        const expected = path === '/v1/query' && code === 'parse-failed' && late !== true ? place.replace('$.args', '$') : place;
        expect(answer.json, answer.text).toMatchObject({ code, path: expected });
        if (code === 'access-denied') expect(answer.status).toBe(400);
        else expect(listedErrors(name, args)).toContainEqual({ code, status: answer.status, when: expect.any(String) });
      }
      expect(await stored()).toEqual(before);
    });
  });
});

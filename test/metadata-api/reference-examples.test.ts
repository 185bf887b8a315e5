/** Every example of docs/reference/ works: each is sent over HTTP as on the page. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backends } from '../../src/databases/index.ts';
import {
  describeLegacyOperations,
  describeOperations,
  describeSchemaOperations,
  type OperationDescription,
} from '../../src/admin-api/describe-operations.ts';
import { isJsonArray, type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { sample } from '../support/deep.ts';
import { runSql, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { EXAMPLE_METADATA, EXAMPLE_SCHEMA, OF_VERSION, ROWS, SAME_DOCUMENT, SETUPS } from './operation-cases/examples.ts';

type Endpoint = '/v1/metadata' | '/v2/query' | '/v1/query';

const all: readonly (readonly [Endpoint, OperationDescription])[] = [
  ...describeOperations(backends).map((each) => ['/v1/metadata', each] as const),
  ...describeSchemaOperations(backends).map((each) => ['/v2/query', each] as const),
  ...describeLegacyOperations(backends).map((each) => ['/v1/query', each] as const),
];
const examples = all
  // Examples of other kinds are similar, and not every run has a MariaDB.
  .filter(([, { type }]) => !/^(?:postgres|dbb|dbc|dwh)_/.test(type))
  .map(([path, { type, version, example, changes }]) => {
    const body: JsonObject = { type, ...(version === 1 ? {} : { version }), args: example };
    return { name: `${path} ${type}${version === 1 ? '' : `, version ${version}`}`, key: `${path} ${type}`, path, body, changes };
  });

let database: TestDatabase;
let service: TestService;
let countries: GraphqlServer;

beforeAll(async () => {
  database = await testDatabase();
  countries = await startGraphqlServer('type Query { country(code: ID!): String home: Country } type Country { code: String! }');
  service = await startTestService(
    { ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' },
    {
      MY_DATABASE_URL: database.url,
      COUNTRIES_URL: countries.url,
      HANDLERS_URL: 'http://handlers.example.org',
      HOOKS: 'http://localhost',
      HOOK_KEY: 'k',
      COLLECTOR_KEY: 'k',
    },
  );
});
afterAll(async () => {
  await service.stop();
  await countries.close();
  await database.drop();
});

const exported = async (): Promise<{ readonly version: number; readonly document: string }> => {
  const { resource_version, metadata } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
  return { version: Number(resource_version), document: JSON.stringify(metadata) };
};
const consistent = async (): Promise<Json> =>
  ((await service.metadata('get_inconsistent_metadata', {})) as JsonObject)['inconsistent_objects'] ?? null;

/** True if the previous example may have changed more than the metadata. */
let isSchemaOld = true;
/** The exported metadata in the initial state of the examples. */
let asFound = '';

async function begin(): Promise<void> {
  if (isSchemaOld) {
    await runSql(database.url, EXAMPLE_SCHEMA);
    await service.metadata('replace_metadata', { metadata: EXAMPLE_METADATA }, { version: 2 });
    await service.metadata('reload_metadata', {});
    asFound = (await exported()).document;
  } else if ((await exported()).document !== asFound) {
    await service.metadata('replace_metadata', { metadata: EXAMPLE_METADATA }, { version: 2 });
  }
}

it.each(sample(examples, Math.ceil(examples.length / 8)))('$name', async ({ key, path, body, changes }) => {
  await begin();
  isSchemaOld = changes === 'database' || (changes === undefined && path !== '/v1/metadata');
  for (const { type, args } of SETUPS[key] ?? []) await service.metadata(String(type), args as Json);
  const wanted = ROWS[key];
  if (wanted !== undefined) await runSql(database.url, wanted);
  const before = await exported();
  const sent = OF_VERSION.has(key) ? { ...body, args: { resource_version: before.version } } : body;
  const answer = await service.send(path, { method: 'POST', body: JSON.stringify(sent) });
  expect(answer.status, answer.text).toBe(200);
  const after = await exported();
  const edits = changes === 'metadata' || (changes === undefined && path === '/v1/metadata');
  expect(after.version).toBe(before.version + (edits ? 1 : 0));
  if (edits && !SAME_DOCUMENT.has(key)) expect(after.document).not.toBe(before.document);
  else expect(after.document).toBe(before.document);
  // A failure would be an element of the result, or a record.
  if (key.endsWith('bulk_keep_going')) expect(isJsonArray(answer.json) && answer.json.map(codeOf)).toEqual(['already-tracked', undefined]);
  const rows = (answer.json as JsonObject)['affected_rows'];
  if (rows !== undefined) expect(rows).toBe(1);
  expect(await consistent()).toEqual([]);
});

const codeOf = (answer: Json): Json | undefined => (answer as JsonObject)['code'];

describe('the examples of the reference', () => {
  it('are complete', () => {
    const pages = ['metadata-api', 'query-api'].map((name) =>
      readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8'),
    );
    const printed = pages
      .flatMap((page) => [...page.matchAll(/^```json\n(.*)\n```$/gm)].map(([, body]) => parseJson(body as string)))
      .filter((body) => !/^(?:db[bc]|dwh)_/.test(String((body as JsonObject)['type'])));
    const texts = (bodies: readonly Json[]): readonly string[] => [...new Set(bodies.map((body) => JSON.stringify(body)))].sort();
    expect(texts(printed)).toEqual(texts(examples.map(({ body }) => body)));
  });

  it('have no unused set-up', () => {
    const keys = new Set(examples.map(({ key }) => key));
    expect([...Object.keys(SETUPS), ...SAME_DOCUMENT].filter((key) => !keys.has(key))).toEqual([]);
  });
});

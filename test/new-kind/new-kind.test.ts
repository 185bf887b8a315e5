import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import initSqlJs from 'sql.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleKinds } from '../../src/admin-api/console-kinds.ts';
import { consoleOperations } from '../../src/admin-api/console-operations.ts';
import { operationTable } from '../../src/admin-api/operation-table.ts';
import { operationsPage } from '../../src/admin-api/reference-page.ts';
import { typesPage } from '../../src/admin-api/types-page.ts';
import type { Backend } from '../../src/backend/backend.ts';
import { runDoctor } from '../../src/cli/run/doctor.ts';
import { backends } from '../../src/databases/index.ts';
import { kindsOf } from '../../src/metadata/kinds.ts';
import { openProject } from '../../src/project/project.ts';
import { serverClient } from '../../src/project/server-client.ts';
import { type Json, JsonNumber, type JsonObject, parseJson } from '../../src/util/json.ts';
import { blocksOf } from '../docs/blocks.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { painter } from '../../src/util/paint.ts';
import { Engine } from './sqlite/engine.ts';
import { sqlite } from './sqlite/index.ts';

const registry: readonly Backend[] = [...backends, sqlite as Backend];

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(import.meta.dirname, 'sqlite');
const page = readFileSync(join(ROOT, 'docs', 'new-kind.md'), 'utf8');
const blocks = blocksOf(page);
const shown = (language: string): readonly string[] =>
  blocks.filter((block) => block.language === language && block.kind === 'shown').map(({ text }) => text);
/** Operations in the order of the page, and the answer to its query. */
const documents = shown('json').map((text) => parseJson(text) as JsonObject);

const ROWS = `
  insert into author values (1, 'Ann', 4.5, 'Bern'), (2, 'Bob', 0.1, null), (9007199254740993, 'C"\\\`é', null, 'Basel');
  insert into article values (1, 1, 'Sky', 100, 1), (2, 1, 'Sea', 300, 1), (3, 1, '100%', 51, 0), (4, 2, 'Sand', null, 1), (5, null, 'Stray', 7, 1);
`;

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-new-kind-'));
  const { Database } = await initSqlJs();
  const database = new Database();
  for (const sql of [...shown('sql'), ROWS]) database.run(sql);
  writeFileSync(join(folder, 'shop.db'), database.export());
  database.close();
  service = await startTestService({ ENABLED_APIS: 'graphql,metadata,metrics' }, { SHOP: folder }, undefined, registry);
  await service.sql(`create table note (id int primary key, text text, author_id bigint);
    insert into note values (1, 'one', 1), (2, 'two', 1), (3, 'three', 9007199254740993), (4, 'four', null)`);
  await service.metadata('pg_track_table', { table: 'note' });
  for (const { type, args } of documents) if (type !== undefined) await service.metadata(type as string, args as Json);
  const relate = (name: string, fields: JsonObject, type: string) =>
    service.metadata('pg_create_remote_relationship', {
      table: 'note',
      name,
      definition: { to_source: { source: 'shop', table: 'article', relationship_type: type, field_mapping: fields } },
    });
  await relate('articles', { author_id: 'author_id' }, 'array');
  await relate('article', { id: 'id', author_id: 'author_id' }, 'object');
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const data = async (query: string, role?: string, session?: Readonly<Record<string, string>>, variables?: JsonObject): Promise<Json> => {
  const answer = await service.graphql(query, {
    ...(role === undefined ? {} : { role }),
    ...(session === undefined ? {} : { session }),
    ...(variables === undefined ? {} : { variables }),
  });
  if (answer['errors'] !== undefined) throw new Error(JSON.stringify(answer['errors']));
  return answer['data'] as Json;
};

const runSql = (sql: string) =>
  service.send('/v2/query', { method: 'POST', body: JSON.stringify({ type: 'sqlite_run_sql', args: { source: 'shop', sql } }) });

test('the page shows the current code', () => {
  const excerpts = blocks.filter(({ settings }) => settings.has('file'));
  expect(excerpts.length).toBeGreaterThan(10);
  for (const { settings, text } of excerpts) expect(readFileSync(join(FOLDER, settings.get('file') ?? ''), 'utf8')).toContain(text);
  for (const file of readdirSync(FOLDER)) expect(page).toContain(`\`${file}\``);
  const lines = readFileSync(join(FOLDER, 'index.ts'), 'utf8').trimEnd();
  expect(excerpts.find(({ settings }) => settings.get('file') === 'index.ts')?.text).toBe(lines);
});

test('the page shows the only entry in the list of kinds', () => {
  const list = readFileSync(join(ROOT, 'src', 'databases', 'index.ts'), 'utf8');
  const change = blocks.find(({ language }) => language === 'diff')?.text.split('\n') ?? [];
  const [added, removed, replaced] = change.map((line) => line.slice(1));
  expect(change.map((line) => line[0])).toEqual(['+', '-', '+']);
  expect(list).toContain(`${removed}\n`);
  expect(replaced).toBe(removed?.replace('];', ', sqlite as Backend];'));
  expect(list).toContain(added?.replaceAll('sqlite', 'bigquery'));
});

test('answers the query of the page', async () => {
  const [query = ''] = shown('graphql');
  expect(await service.graphql(query)).toEqual(documents.find(({ data }) => data !== undefined));
});

test('offers the operations of the kind, to the console as well', () => {
  const [withKind, without] = [operationTable(registry), operationTable(backends)];
  const added = [...withKind.keys()].filter((name) => !without.has(name));
  expect(added.filter((name) => !name.startsWith('sqlite_'))).toEqual([]);
  expect(added).toEqual(expect.arrayContaining(['sqlite_add_source', 'sqlite_track_table', 'sqlite_create_select_permission']));
  const kindsOfTracking = (kinds: readonly Backend[]): string | undefined =>
    /track_table: \['metadata', '([^']*)'\]/.exec(consoleOperations(kinds))?.[1];
  expect(kindsOfTracking(registry)?.split(' ')).toContain('sqlite');
  expect(kindsOfTracking(backends)?.split(' ')).not.toContain('sqlite');
  expect(consoleKinds(registry)).toContain('sqlite: {"title":"SQLite",');
  expect(operationsPage(registry)).toContain('## sqlite_add_source');
  expect(typesPage(registry)).toContain('SqliteConfiguration');
});

test('returns values with all of their digits and characters', async () => {
  const { text } = await service.send('/v1/graphql', {
    method: 'POST',
    body: '{"query": "{ author(order_by: {id: asc}) { id name rating town } }"}',
  });
  expect(text.replaceAll(/\s+/g, '')).toBe(
    '{"data":{"author":[{"id":1,"name":"Ann","rating":4.5,"town":"Bern"},{"id":2,"name":"Bob","rating":0.1,"town":null},{"id":9007199254740993,"name":"C\\"\\\\`é","rating":null,"town":"Basel"}]}}',
  );
});

test.each([
  ['{id: {_eq: 2}}', [2]],
  ['{id: {_eq: "9007199254740993"}}', [3]],
  ['{rating: {_gt: 0.05, _lte: 4.5}}', [1, 2]],
  ['{name: {_in: ["Ann", "C\\"\\\\`é"]}}', [1, 3]],
  ['{name: {_nin: ["Ann"]}}', [2, 3]],
  ['{name: {_in: []}}', []],
  ['{town: {_is_null: true}}', [2]],
  ['{name: {_like: "a%"}}', []],
  ['{name: {_ilike: "a%"}}', [1]],
  ['{name: {_nlike: "%b"}}', [1, 3]],
  ['{_or: [{town: {_eq: "Bern"}}, {_not: {town: {_is_null: false}}}]}', [1, 2]],
  ['{articles: {title: {_like: "100\\\\%"}}}', [1]],
  ['{articles: {title: {_like: "1\\\\%"}}}', []],
  ['{_not: {articles: {}}}', [3]],
  ['{articles: {author: {articles: {words: {_is_null: true}}}}}', [2]],
  ['{articles_aggregate: {count: {predicate: {_gt: 2}, filter: {words: {_gt: 1}}}}}', [1]],
])('filters rows by %s', async (where, expected) => {
  const found = (await data(`{ author(where: ${where}, order_by: {id: asc}) { name } }`)) as { author: { name: string }[] };
  expect(found.author.map(({ name }) => ['Ann', 'Bob'].indexOf(name)).map((at) => (at < 0 ? 3 : at + 1))).toEqual(expected);
});

test('binds variables, and refuses values that the database would truncate', async () => {
  const query = 'query ($name: String!, $ids: [bigint!]) { author(where: {name: {_eq: $name}, id: {_in: $ids}}) { name } }';
  expect(await data(query, undefined, undefined, { name: 'C"\\`é', ids: ['9007199254740993', 1] })).toEqual({
    author: [{ name: 'C"\\`é' }],
  });
  expect(await data(query, undefined, undefined, { name: "' or 1 = 1 --", ids: [1] })).toEqual({ author: [] });
  await expect(data(query, undefined, undefined, { name: 'Ann\u0000', ids: [1] })).rejects.toThrow('data-exception');
  await expect(data(query, undefined, undefined, { name: 'Ann', ids: ['1 or 1'] })).rejects.toThrow('data-exception');
});

test('orders, pages and returns the first row of each group', async () => {
  expect(
    await data(`{
      words: article(order_by: {words: desc_nulls_last}, limit: 2, offset: 1) { id }
      related: article(order_by: [{author: {name: desc_nulls_last}}, {id: desc}]) { id }
      counted: author(order_by: {articles_aggregate: {count: desc}}, limit: 1) { name }
      first: article(distinct_on: author_id, order_by: [{author_id: asc_nulls_last}, {words: desc_nulls_last}]) { title }
    }`),
  ).toEqual({
    words: [{ id: 1 }, { id: 3 }],
    related: [{ id: 4 }, { id: 3 }, { id: 2 }, { id: 1 }, { id: 5 }],
    counted: [{ name: 'Ann' }],
    first: [{ title: 'Sea' }, { title: 'Sand' }, { title: 'Stray' }],
  });
});

test('nests relationships with their own paging', async () => {
  expect(
    await data(`{
      author(where: {id: {_lt: 3}}, order_by: {id: asc}) {
        name
        articles(order_by: {title: asc}, limit: 2, where: {published: {_eq: 1}}) { title author { name } }
        articles_aggregate(order_by: {id: asc}) { aggregate { count } nodes { id } }
      }
      article(where: {id: {_eq: 5}}) { author { name } }
      article_by_pk(id: 4) { title author { articles { id } } }
      none: article_by_pk(id: 44) { title }
    }`),
  ).toEqual({
    author: [
      {
        name: 'Ann',
        articles: [
          { title: 'Sea', author: { name: 'Ann' } },
          { title: 'Sky', author: { name: 'Ann' } },
        ],
        articles_aggregate: { aggregate: { count: 3 }, nodes: [{ id: 1 }, { id: 2 }, { id: 3 }] },
      },
      {
        name: 'Bob',
        articles: [{ title: 'Sand', author: { name: 'Bob' } }],
        articles_aggregate: { aggregate: { count: 1 }, nodes: [{ id: 4 }] },
      },
    ],
    article: [{ author: null }],
    article_by_pk: { title: 'Sand', author: { articles: [{ id: 4 }] } },
    none: null,
  });
});

test('aggregates', async () => {
  expect(
    await data(`{
      article_aggregate(where: {id: {_lt: 5}}) {
        aggregate { count words: count(columns: words) authors: count(columns: author_id, distinct: true)
          both: count(columns: [author_id, published], distinct: true)
          sum { words } avg { words } max { title words } min { title } }
      }
      none: article_aggregate(where: {id: {_gt: 9}}) { aggregate { count sum { words } } nodes { id } }
    }`),
  ).toEqual({
    article_aggregate: {
      aggregate: {
        count: 4,
        words: 3,
        authors: 2,
        both: 3,
        sum: { words: 451 },
        avg: { words: new JsonNumber('150.33333333333334') },
        max: { title: 'Sky', words: 300 },
        min: { title: '100%' },
      },
    },
    none: { aggregate: { count: 0, sum: { words: null } }, nodes: [] },
  });
});

test('applies the row filter and the columns of a role everywhere', async () => {
  const as = (id: string) => (query: string) => data(query, 'reader', { 'user-id': id });
  const titles = '{ article(order_by: {id: asc}) { title } }';
  expect(await as('2')(titles)).toEqual({ article: [{ title: 'Sky' }, { title: 'Sea' }, { title: 'Sand' }, { title: 'Stray' }] });
  expect(await as('1')(titles)).toMatchObject({ article: [{}, {}, { title: '100%' }, {}, {}] });
  expect(await as('2')('{ author(order_by: {id: asc}) { name } article_aggregate { aggregate { count max { title } } } }')).toEqual({
    author: [{ name: 'Ann' }, { name: 'Bob' }],
    article_aggregate: { aggregate: { count: 4, max: { title: 'Stray' } } },
  });
  expect(await as('2')('{ article(where: {author: {articles: {title: {_eq: "100%"}}}}) { id } }')).toEqual({ article: [] });
  await expect(as('2')('{ article { words } }')).rejects.toThrow("field 'words' not found");
  await expect(as('2')('{ article(order_by: {words: asc}) { id } }')).rejects.toThrow('words');
  await expect(data('{ article { id } }', 'stranger')).rejects.toThrow('article');
});

test('joins a table of PostgreSQL in both directions', async () => {
  expect(await data('{ author(where: {id: {_lt: 3}}, order_by: {id: asc}) { name notes(order_by: {id: asc}) { text } } }')).toEqual({
    author: [
      { name: 'Ann', notes: [{ text: 'one' }, { text: 'two' }] },
      { name: 'Bob', notes: [] },
    ],
  });
  expect(
    await data(
      '{ note(order_by: {id: asc}) { text author { name } articles(order_by: {id: desc}, limit: 1) { title } article { words } } }',
    ),
  ).toEqual({
    note: [
      { text: 'one', author: { name: 'Ann' }, articles: [{ title: '100%' }], article: { words: 100 } },
      { text: 'two', author: { name: 'Ann' }, articles: [{ title: '100%' }], article: { words: 300 } },
      { text: 'three', author: { name: 'C"\\`é' }, articles: [], article: null },
      { text: 'four', author: null, articles: [], article: null },
    ],
  });
});

test('shows its connections in the metrics', async () => {
  const { text } = await service.send('/v1/metrics');
  expect(text).toContain('svc_sqlite_pool_max_connections{source_name="shop",role="primary"} 1');
  expect(Number(/svc_sqlite_query_time_seconds_count\{source_name="shop",role="primary"\} (\d+)/.exec(text)?.[1])).toBeGreaterThan(5);
});

test('reports a table that it cannot offer in svc doctor', async () => {
  const project = openProject(folder, { project: folder, endpoint: service.url }, {}, false);
  const outcome = await runDoctor({
    args: [],
    options: {},
    cwd: folder,
    environment: {},
    project: async () => project,
    anyProject: async () => project,
    server: async () => serverClient(project.settings),
    kinds: async () => kindsOf(registry),
    progress: () => undefined,
    print: () => undefined,
    warn: () => undefined,
    confirm: async () => true,
    ask: async (_question, fallback) => fallback,
    commands: [],
    json: true,
    beforeOutput: () => undefined,
    paint: painter(false),
  });
  expect(JSON.stringify(outcome.data)).toContain('the table loose is not strict');
});

test('refuses mutations and event triggers', async () => {
  await expect(data('mutation { insert_author_one(object: {id: 4}) { id } }')).rejects.toThrow(
    "field 'insert_author_one' not found in type: 'mutation_root'",
  );
  const trigger = { source: 'shop', table: 'author', name: 'changed', webhook: 'http://127.0.0.1:9', insert: { columns: '*' } };
  await expect(service.metadata('sqlite_create_event_trigger', trigger)).rejects.toThrow(
    'the metadata command \\"sqlite_create_event_trigger\\" is not supported',
  );
});

test.each([
  ['delete from author', 'sources of SQLite are read only'],
  ['pragma query_only = off', 'sources of SQLite are read only'],
  ['with one as (select 1) delete from author', 'attempt to write a readonly database'],
  ['select 1; delete from author', 'the SQL has more than one statement'],
  ['select missing from author', 'no such column: missing'],
])('refuses the SQL %s', async (sql, message) => {
  const answer = await runSql(sql);
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.text).toContain(message);
});

test('runs SQL of administrators that only reads', async () => {
  expect((await runSql('select 9007199254740993 as large, null as absent')).json).toEqual({
    result_type: 'TuplesOk',
    result: [
      ['large', 'absent'],
      ['9007199254740993', 'NULL'],
    ],
  });
});

test('stops a statement at its deadline and answers the next one', async () => {
  const engine = new Engine(new Uint8Array());
  try {
    const endless = 'with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n';
    const first = engine.run({ text: endless, values: [] }, { deadline: Date.now() + 300 });
    const next = engine.run({ text: 'select 1', values: [] }, { deadline: Date.now() + 30_000 });
    await expect(first).rejects.toMatchObject({ code: 'timeout' });
    expect((await next).rows).toEqual([['1']]);
    const large = engine.run(
      {
        text: "select group_concat(printf('%.1000000c', 'x')) from (with recursive n(x) as (select 1 union all select x + 1 from n limit 1000) select * from n)",
        values: [],
      },
      {},
    );
    await expect(large).rejects.toThrow('out of memory');
    expect(engine.measures().counts.timedOut).toBe(1);
  } finally {
    await engine.close();
  }
});

test('refuses a missing file and one that is not a database', async () => {
  writeFileSync(join(folder, 'text.db'), 'x'.repeat(5000));
  const add = (file: Json) => service.metadata('sqlite_add_source', { name: 'other', configuration: { file } });
  await expect(add('{{SHOP}}/text.db')).rejects.toThrow('file is not a database');
  await expect(add('{{SHOP}}/none.db')).rejects.toThrow('no such file');
  await expect(add('{{NONE}}')).rejects.toThrow('NONE');
  await expect(add({ from_env: 'NONE' })).rejects.toThrow('NONE');
  await expect(add(1)).rejects.toThrow('SqliteVariable');
});

/**
 * The requests of `same-answers` and `same-writes` on a real Citus cluster (`SVC_TEST_DBC_URL`): distributed, reference and local tables,
 * in every combination of the two ends of a relationship.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { READS, ROLE_READS, ROLES } from '../support/twin-reads.ts';
import { addTwin, allowWrites, LOOSE_TABLES, placedAlike, sortedLists, TABLES, trackTwin, twinAnswer, twinRows, WRITES } from './twin.ts';

const URL = process.env['SVC_TEST_DBC_URL'] ?? '';
if (URL === '') process.stderr.write('SVC_TEST_DBC_URL is not set: the tests on a real Citus are skipped\n');

const SCHEMA = 'svc_spread';
const SET_UP = `drop schema if exists ${SCHEMA} cascade; create schema ${SCHEMA}; set search_path to ${SCHEMA}, public; ${LOOSE_TABLES}`;

type Kind = 'distributed' | 'with books' | 'reference' | 'local';
interface Layout {
  readonly writer: Kind;
  readonly book: Kind;
  readonly mark: Kind;
  readonly note: Kind;
}

/** Marks of books are colocated with them if both are distributed; all other tables are not colocated. */
const LAYOUTS: readonly Layout[] = [
  { writer: 'distributed', book: 'distributed', mark: 'with books', note: 'distributed' },
  { writer: 'distributed', book: 'distributed', mark: 'reference', note: 'local' },
  { writer: 'reference', book: 'distributed', mark: 'distributed', note: 'reference' },
  { writer: 'local', book: 'distributed', mark: 'local', note: 'distributed' },
  { writer: 'distributed', book: 'local', mark: 'distributed', note: 'reference' },
  { writer: 'distributed', book: 'reference', mark: 'local', note: 'local' },
  { writer: 'reference', book: 'local', mark: 'reference', note: 'distributed' },
  { writer: 'local', book: 'reference', mark: 'distributed', note: 'local' },
];
const KEYS: Readonly<Record<keyof Layout, string>> = { writer: 'id', book: 'id', mark: 'book_id', note: 'id' };

const SPREAD: Readonly<Record<Kind, (table: string, key: string) => string>> = {
  distributed: (table, key) => `select create_distributed_table('${table}', '${key}', colocate_with => 'none');`,
  'with books': (table, key) => `select create_distributed_table('${table}', '${key}', colocate_with => 'book');`,
  reference: (table) => `select create_reference_table('${table}');`,
  local: () => '',
};

function spread(layout: Layout): string {
  return (Object.entries(KEYS) as [keyof Layout, string][]).map(([table, key]) => SPREAD[layout[table]](table, key)).join('\n');
}

function unordered(request: string, answer: string): string {
  return request.includes('order_by') ? answer : sortedLists(answer);
}

async function same(service: TestService, request: string, options: JsonObject = {}): Promise<void> {
  const theirs = await twinAnswer(service, 'pg', request, options);
  const ours = await twinAnswer(service, 'dbc', request, options);
  expect(unordered(request, placedAlike(ours, theirs))).toBe(unordered(request, theirs));
}

/** Replaces the rows of one database by those of the other. */
async function copyRows(from: string, to: string): Promise<void> {
  const [source, target] = [from, to].map((connectionString) => new pg.Client({ connectionString })) as [pg.Client, pg.Client];
  await Promise.all([source.connect(), target.connect()]);
  try {
    for (const table of TABLES.map((name) => `${SCHEMA}.${name}`)) {
      const { rows } = await source.query<{ all: string }>(`select coalesce(json_agg(t), '[]')::text as all from ${table} t`);
      await target.query(`delete from ${table}`);
      await target.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [rows[0]?.all]);
    }
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

describe.skipIf(URL === '').each(LAYOUTS)('writers $writer, books $book, marks $mark, notes $note', (layout) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({}, { TWIN: URL });
    await service.sql(SET_UP);
    await runSql(URL, `${SET_UP} ${spread(layout)}`);
    await addTwin(service, { from_env: 'TWIN' });
    for (const [kind, source] of [
      ['pg', 'default'],
      ['dbc', 'twin'],
    ] as const) {
      await trackTwin(service, kind, source, SCHEMA);
      await allowWrites(service, kind, source, SCHEMA);
    }
  });
  afterAll(async () => {
    await service?.stop();
    if (URL !== '') await runSql(URL, `drop schema if exists ${SCHEMA} cascade`);
  });

  it.each(Object.entries(layout))('reports the location of %s: %s', async (table, kind) => {
    const info = await service.metadata('dbc_get_table_info', { source: 'twin', table: { schema: SCHEMA, name: table }, details: true });
    const isSpread = kind === 'distributed' || kind === 'with books';
    const expected = isSpread
      ? { kind: 'distributed', column: KEYS[table as keyof Layout], colocation_group: expect.any(Number) }
      : { kind };
    expect(info).toMatchObject({ distribution: expected });
  });

  it('refuses to change the location of rows', async () => {
    const answer = await service.graphql('mutation { dbc_update_writer(where: {}, _set: {id: 77}) { affected_rows } }');
    const refusal = { errors: [{ extensions: { code: 'not-supported', path: '$.selectionSet.dbc_update_writer.args._set.id' } }] };
    if (layout.writer === 'distributed') expect(answer).toMatchObject(refusal);
    else expect(answer).toMatchObject({ errors: [{ extensions: { code: 'constraint-violation' } }] });
  });

  it.each(READS)('answers %s', async (request) => {
    await same(service, request);
  });

  it.each(ROLES)('shows $role with $session the same rows', async (options) => {
    for (const request of ROLE_READS) await same(service, request, options);
  });

  // A failed case must not affect later ones.
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await copyRows(service.databaseUrl, URL);
  });

  // Without functions, and without conditions on other tables in conflict clauses, which are refused (`distribution.test.ts`).
  it.each(WRITES.filter(({ request }) => !/_raise|_cheap|on_conflict: \{[^}]*where: \{books/.test(request)))(
    '$request',
    async ({ request, ...options }) => {
      await same(service, request, options);
      expect(await twinRows(service, 'dbc', 'twin', SCHEMA)).toBe(await twinRows(service, 'pg', 'default', SCHEMA));
    },
  );
});

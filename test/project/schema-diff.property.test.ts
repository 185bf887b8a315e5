/**
 * Random pairs of schemas: the SQL that is written from their difference turns one into the other, and back. `SVC_SCHEMA_PAIRS` and
 * `SVC_TEST_SEED` set the number of pairs and the seed.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DumpContext, SchemaDiff } from '../../src/backend/migration-dialect.ts';
import { migrations } from '../../src/databases/postgresql/migrations/index.ts';
import { cases, SEED } from '../support/deep.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { randomOf, SchemaMaker, sqlOf } from '../support/random-schema.ts';

const PAIRS = Number(process.env['SVC_SCHEMA_PAIRS'] ?? cases(40, 8));
const NOT_DONE = '-- Not done: ';

interface Side {
  readonly database: TestDatabase;
  readonly client: pg.Client;
}

let sides: readonly [Side, Side];
beforeAll(async () => {
  sides = [await openSide(), await openSide()];
});
afterAll(async () => {
  for (const { client, database } of sides ?? []) {
    await client.end();
    await database.drop();
  }
});

async function openSide(): Promise<Side> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return { database, client };
}

async function rows(client: pg.Client, sql: string): Promise<string[][]> {
  const found = (await client.query({ text: `begin read only; ${sql}; commit`, rowMode: 'array' })) as unknown as pg.QueryArrayResult[];
  const answer = found.findLast(({ command }) => command === 'SELECT');
  return (answer?.rows ?? []).map((row: unknown[]) =>
    row.map((cell) => (cell === null ? 'NULL' : typeof cell === 'string' ? cell : JSON.stringify(cell))),
  );
}

function contextOf({ client }: Side): DumpContext {
  return { source: 'test', rows: (sql) => rows(client, sql), failure: (_, message) => new Error(message) };
}

function difference([one, other]: readonly [Side, Side]): Promise<SchemaDiff> {
  return migrations.diffSchemas(contextOf(one), contextOf(other));
}

/** Lines of the schema without those of enums, whose values cannot be removed. */
async function linesOf({ client }: Side): Promise<readonly string[]> {
  const lines = await rows(client, `set local search_path = pg_catalog; ${migrations.schemaLines}`);
  return lines
    .map(([line = '']) =>
      line.replace(
        /\(ARRAY\[([^\]]*)\]\)::text\[\]/g,
        (_, list: string) => `ARRAY[${list.replace(/('(?:[^']|'')*'::character varying)/g, '($1)::text')}]`,
      ),
    )
    .filter((line) => !line.startsWith('enum '))
    .sort();
}

async function enumsOf({ client }: Side): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await rows(
    client,
    'select t.oid::regtype, enumlabel from pg_enum join pg_type t on t.oid = enumtypid order by enumtypid, enumsortorder',
  );
  const enums = new Map<string, string[]>();
  for (const [name = '', label = ''] of found) enums.set(name, [...(enums.get(name) ?? []), label]);
  return enums;
}

function expectLines(actual: readonly string[], wanted: readonly string[]): void {
  const [missing, extra] = [wanted.filter((line) => !actual.includes(line)), actual.filter((line) => !wanted.includes(line))];
  if (missing.length + extra.length > 0)
    throw new Error(`other schema:\n${[...missing.map((line) => `- ${line}`), ...extra.map((line) => `+ ${line}`)].join('\n')}`);
}

/** Compares enums: those that lost values or changed their order keep the old values. */
function expectEnums(
  actual: ReadonlyMap<string, readonly string[]>,
  wanted: ReadonlyMap<string, readonly string[]>,
  isExact: boolean,
): void {
  expect([...actual.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [name, labels] of wanted) {
    if (isExact) expect(actual.get(name), name).toEqual(labels);
    else expect(actual.get(name)).toEqual(expect.arrayContaining([...labels]));
  }
}

/** Removes the comment marks of statements that are not done by default. */
function complete(sql: string): string {
  return sql
    .split('\n\n')
    .map((part) => (part.startsWith(NOT_DONE) ? part.replace(/^-- (?!Not done: )/gm, '') : part))
    .join('\n\n');
}

async function run({ client }: Side, sql: string): Promise<void> {
  if (sql.startsWith('-- svc: no-transaction')) for (const { text } of migrations.scan(sql).statements) await client.query(text);
  else await client.query(sql);
}

async function reset({ client }: Side, sql: string): Promise<void> {
  await client.query('drop schema if exists public, "Odd one" cascade; create schema public');
  await client.query(sql);
}

const counts = { statements: 0, notDone: 0, withoutTransaction: 0, equal: 0 };

async function tryPair(seed: number): Promise<void> {
  const maker = new SchemaMaker(randomOf(seed));
  const one = maker.schema();
  const other = maker.chance(0.05) ? one : maker.chance(0.7) ? maker.schema(one, 0.6) : maker.schema();
  const [a, b] = sides;
  await reset(a, sqlOf(one));
  await reset(b, sqlOf(other));
  const before = [await linesOf(a), await enumsOf(a)] as const;
  const wanted = [await linesOf(b), await enumsOf(b)] as const;
  const diff = await difference(sides);
  counts.statements += diff.up.sql.split('\n\n').length;
  counts.notDone += diff.up.omitted.length;
  if (diff.up.sql.startsWith('-- svc: no-tr')) counts.withoutTransaction += 1;
  if (one === other) {
    counts.equal += 1;
    expect(diff).toEqual({ up: { sql: '', omitted: [] }, down: { sql: '', omitted: [] } });
    return;
  }
  // What is not done by default does not keep the rest from running.
  if (diff.up.sql.includes(`\n${NOT_DONE}`) && maker.chance(0.5)) {
    await run(a, diff.up.sql);
    await run(a, diff.down.sql);
    if (!diff.down.sql.includes(NOT_DONE)) expectLines(await linesOf(a), before[0]);
    return;
  }
  const isExact = ({ sql }: { readonly sql: string }): boolean => !/^-- Not done: PostgreSQL cannot/m.test(sql);
  await run(a, complete(diff.up.sql));
  expectLines(await linesOf(a), wanted[0]);
  expectEnums(await enumsOf(a), wanted[1], isExact(diff.up));
  const rest = await difference(sides);
  expect(rest.up.sql.split('\n\n').filter((part) => !part.startsWith('-- Not done: PostgreSQL cannot'))).toEqual(
    rest.up.sql === '' ? [''] : [],
  );
  const isDownComplete = !diff.down.sql.includes('up.sql leaves out');
  await run(a, complete(diff.down.sql));
  if (isDownComplete || !diff.up.sql.includes(NOT_DONE)) expectLines(await linesOf(a), before[0]);
  expectEnums(await enumsOf(a), before[1], isExact(diff.down) && isExact(diff.up));
}

it(
  `turns one schema into the other and back, for ${PAIRS} random pairs (seed ${SEED})`,
  async () => {
    const failures: string[] = [];
    for (let i = 0; i < PAIRS && failures.length < 5; i++) {
      try {
        await tryPair(SEED + i);
      } catch (thrown) {
        for (const { client } of sides) await client.query('rollback');
        failures.push(`SVC_SCHEMA_PAIRS=1 SVC_TEST_SEED=${SEED + i}: ${String(thrown)} ${(thrown as { detail?: string }).detail ?? ''}`);
      }
    }
    expect(failures).toEqual([]);
    console.error(`schema differences: ${JSON.stringify(counts)}`);
    if (PAIRS >= 20) expect(counts.statements).toBeGreaterThan(PAIRS);
  },
  Math.max(180_000, PAIRS * 10_000),
);

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres.ts';
import { OutputBuffer } from './output-buffer.ts';
import { PreparedStatements } from './prepared-statements.ts';

const text = (n: number, length = 1000): string => `select ${n} -- `.padEnd(length, 'x');

describe('prepared statements', () => {
  it('limits prepared statements by memory', () => {
    const prepared = new PreparedStatements(512, 4_000_000);
    const output = new OutputBuffer();
    for (let n = 0; n < 300; n++) {
      prepared.prepare(text(n), output);
      expect(prepared.memory).toBeLessThanOrEqual(4_000_000);
    }
    expect(prepared.size).toBeGreaterThan(10);
    expect(prepared.size).toBeLessThan(30);
    expect(prepared.name(text(299))).toBeDefined();
    expect(prepared.name(text(0))).toBeUndefined();
  });

  it('limits the number of prepared statements', () => {
    const prepared = new PreparedStatements(16, 100_000_000);
    const output = new OutputBuffer();
    for (let n = 0; n < 100; n++) prepared.prepare(text(n), output);
    expect(prepared.size).toBeLessThanOrEqual(16);
  });

  it('does not prepare very large statements', () => {
    const prepared = new PreparedStatements(512, 32 * 1024 * 1024);
    expect(prepared.takes(text(1, 20_000))).toBe(true);
    expect(prepared.takes(text(1, 30_000))).toBe(false);
    expect(new PreparedStatements(512, 0).takes('select 1')).toBe(false);
  });

  it('releases the memory of forgotten statements', () => {
    const prepared = new PreparedStatements(512, 4_000_000);
    const output = new OutputBuffer();
    const name = prepared.prepare(text(1), output);
    prepared.prepare(text(2), output);
    prepared.forget([name]);
    prepared.replace(text(2), output);
    expect([prepared.size, prepared.memory]).toEqual([0, 0]);
  });
});

describe('the memory of a prepared statement in the server', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await testDatabase();
    client = new pg.Client(database.url);
    await client.connect();
    await client.query('create table t (id int primary key, name text, up int references t)');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const memory = async (): Promise<number> => {
    const { rows } = await client.query('select sum(total_bytes)::int as bytes from pg_backend_memory_contexts');
    return (rows as { bytes: number }[])[0]?.bytes ?? 0;
  };

  it.each([
    ['a short statement', 'select t.name from t where t.id = $1::int'],
    [
      'conditions',
      `select id from t where ${Array.from({ length: 60 }, (_, n) => `id = $1::int + ${n} and name like 'x${n}'`).join(' or ')}`,
    ],
    [
      'joins',
      `select json_agg(row_to_json(t)) from t ${Array.from({ length: 8 }, (_, n) => `left join lateral (select t${n}.id, t${n}.name from t as t${n} where t${n}.up = t.id) as j${n} on true`).join(' ')} where t.id = $1::int`,
    ],
  ])('estimates the memory of %s', async (_title, sql) => {
    const run = (name: string, statement: string) => client.query({ name, text: statement, values: ['1'] });
    await run(`first${sql.length}`, sql);
    const prepared = new PreparedStatements(512, Number.POSITIVE_INFINITY);
    const before = await memory();
    for (let n = 0; n < 10; n++) {
      const statement = `${sql} -- ${n}`;
      prepared.prepare(statement, new OutputBuffer());
      // From the sixth execution on there is a generic plan.
      for (let times = 0; times < 7; times++) await run(`s${sql.length}_${n}`, statement);
    }
    const used = (await memory()) - before;
    expect(used / prepared.memory, `${used} bytes, estimated ${prepared.memory}`).toBeLessThan(1.3);
    expect(used / prepared.memory, `${used} bytes, estimated ${prepared.memory}`).toBeGreaterThan(0.25);
  });
});

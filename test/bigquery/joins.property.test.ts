/** A tree of tables gives the same answers in one database as spread over PostgreSQL, sometimes BigQuery, and a GraphQL server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { compareScattered, type Other, startScattered, stopScattered, TABLES } from '../joins/scattered.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { DEEP } from '../support/deep.ts';
import { configurationOf } from './bigquery.ts';

const COLUMNS = ['id', 'code', 'n', 'm', 's', 'c', 'v'];
const DDL = TABLES.map(
  (name) => `create table side.${name} (id int64 not null, code string, n int64, m int64, s string, c string, v int64);`,
);

/** Texts of JSON are valid texts of BigQuery. */
const literal = (value: Json | undefined): string => JSON.stringify(value ?? null);

function otherOn(bigquery: BigQuery): Other {
  return {
    kind: 'dwh',
    configuration: configurationOf(bigquery, 'side'),
    named: (name) => ({ dataset: 'side', name }),
    naming: (name) => ({ configuration: { custom_name: name } }),
    async fill(tables) {
      const emptied = TABLES.map((name) => `delete from side.${name} where true;`);
      const filled = tables
        .filter(({ rows }) => rows.length > 0)
        .map(({ name, rows }) => {
          const values = rows.map((row) => `(${COLUMNS.map((column) => literal(row[column])).join(', ')})`);
          return `insert into side.${name} (${COLUMNS.join(', ')}) values ${values.join(', ')};`;
        });
      await bigquery.run([...emptied, ...filled].join(' '));
    },
  };
}

describe.skipIf(!hasBigQuery())('BigQuery', () => {
  let bigquery: BigQuery;
  beforeAll(async () => {
    bigquery = await startBigQuery({ datasets: { side: {} }, sql: DDL.join(' ') });
    await startScattered();
  });
  afterAll(async () => {
    await stopScattered();
    await bigquery?.stop();
  });

  test('answers like one database when joined with other sources', async () => {
    const { crossed, mixed } = await compareScattered(DEEP ? { worlds: 12, queries: 12 } : { worlds: 2, queries: 4 }, otherOn(bigquery));
    expect(crossed).toBeGreaterThan(0);
    if (DEEP) expect(mixed).toBeGreaterThan(0);
  }, 600_000);
});

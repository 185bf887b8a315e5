import pg from 'pg';
import type { Source } from '../../src/backend/backend.ts';
import type { Connection, RunSqlResult } from '../../src/backend/connection.ts';

/** Values as the text that the server sent. */
const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

function result(answer: pg.QueryArrayResult | pg.QueryArrayResult[]): RunSqlResult {
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  const columns = (last?.fields ?? []).map((field) => field.name);
  return {
    kind: columns.length > 0 ? 'TuplesOk' : 'CommandOk',
    columns,
    rows: (last?.rows ?? []) as (string | null)[][],
    command: last?.command ?? '',
  };
}

function unused(): never {
  throw new Error('not part of this adapter');
}

function connectionOver(client: pg.Pool | pg.PoolClient): Connection {
  return {
    query: async (text, values) => result(await client.query({ text, values: [...values], rowMode: 'array', types: asText })),
    runSql: async (sql) => result((await client.query({ text: sql, rowMode: 'array' })) as pg.QueryArrayResult),
    runJson: unused,
    explain: unused,
    introspect: unused,
  };
}

/** A source over the plain client, for tests that need a database but no backend. */
export function plainSource(url: string, maxConnections = 4): Source {
  const pool = new pg.Pool({ connectionString: url, max: maxConnections });
  pool.on('error', () => {}); // dropping a database ends idle connections
  return {
    ...connectionOver(pool),
    async transaction(how, run) {
      const client = await pool.connect();
      try {
        await client.query(
          `begin isolation level ${(how.isolation ?? 'read-committed').replace('-', ' ')}${how.readOnly ? ' read only' : ''}`,
        );
        const value = await run(connectionOver(client));
        await client.query('commit');
        return value;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    session: unused,
    runRows: unused,
    runMutation: unused,
    health: unused,
    close: () => pool.end(),
  };
}

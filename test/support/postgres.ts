import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  /** Removes the database, whoever is connected. */
  drop(): Promise<void>;
}

/** The server that tests run on; vitest's global set-up starts one when the variable is not set. */
export function testServerUrl(): string {
  const url = process.env['SVC_TEST_PG_URL'];
  if (url === undefined || url === '') throw new Error('SVC_TEST_PG_URL is not set and the global set-up has not run');
  return url;
}

/** Makes an empty database of its own on the test server. */
export async function testDatabase(): Promise<TestDatabase> {
  const name = `svc_test_${randomBytes(8).toString('hex')}`;
  await administer(`create database ${name} template template0`);
  const url = new URL(testServerUrl());
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
}

/** Runs SQL text, several statements allowed, in the database at `url`. */
export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function administer(statement: string): Promise<void> {
  await runSql(testServerUrl(), statement);
}

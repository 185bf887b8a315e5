import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestDatabase {
  readonly url: string;
  /** Drops the database and ends its connections. */
  drop(): Promise<void>;
}

/** The test server; vitest's global set-up starts one if the variable is not set. */
export function testServerUrl(): string {
  const url = process.env['SVC_TEST_PG_URL'];
  if (url === undefined || url === '') throw new Error('SVC_TEST_PG_URL is not set and the global set-up has not run');
  return url;
}

/**
 * Creates a database on the test server: an empty one, or `ready` for a service, which then finds its catalog
 * and skips the first set-up.
 */
export async function testDatabase(kind: 'empty' | 'ready' = 'empty'): Promise<TestDatabase> {
  const name = `svc_test_${randomBytes(8).toString('hex')}`;
  const template = (kind === 'ready' && process.env['SVC_TEST_TEMPLATE']) || 'template0';
  await administer(`create database ${name} template ${template}${await copyOption()}`);
  const url = new URL(testServerUrl());
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
}

let copying: Promise<string> | undefined;

/** From version 15, servers write a new database to the WAL block by block, which costs several times as much as copying its files. */
function copyOption(): Promise<string> {
  copying ??= serverVersion().then((version) => (version >= 150_000 ? ' strategy file_copy' : ''));
  return copying;
}

async function serverVersion(): Promise<number> {
  const client = new pg.Client({ connectionString: testServerUrl() });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
    return Number(rows[0]?.version);
  } finally {
    await client.end();
  }
}

/** Runs SQL, possibly several statements, in the database at `url`. */
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

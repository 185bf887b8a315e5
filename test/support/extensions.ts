import pg from 'pg';
import { testServerUrl } from './postgres.ts';

/**
 * Returns which of these extensions the test server has. Tests skip cases that need a missing one, because the embedded PostgreSQL
 * has few. If `SVC_TEST_REQUIRE_EXTENSIONS` is set, a missing one is an error, so that nothing is skipped silently.
 * `scripts/test-extensions.mjs` sets it and runs the test files that import this one.
 */
export async function availableExtensions(names: readonly string[]): Promise<ReadonlySet<string>> {
  const client = new pg.Client({ connectionString: testServerUrl() });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>('select name from pg_available_extensions where name = any ($1)', [names]);
    const found = new Set(rows.map((row) => row.name));
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0 && process.env['SVC_TEST_REQUIRE_EXTENSIONS']) throw new Error(`extensions are missing: ${missing.join(', ')}`);
    return found;
  } finally {
    await client.end();
  }
}

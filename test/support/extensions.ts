import pg from 'pg';
import { testServerUrl } from './postgres.ts';

/**
 * Which of these extensions the test server has. Tests skip what needs one that is missing, for the embedded PostgreSQL
 * has few; where `SVC_TEST_REQUIRE_EXTENSIONS` is set a missing one is an error instead, so that nothing is skipped
 * unseen. `scripts/test-extensions.mjs` sets it, and runs the test files that import this one.
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

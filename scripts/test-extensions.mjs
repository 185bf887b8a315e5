// Runs the tests that need extensions which the embedded PostgreSQL lacks, such as PostGIS, on Debian's PostgreSQL 15: all test files that
// import test/support/extensions.ts. Elsewhere they skip missing extensions; here a missing extension is a failure. Exit code 3: a
// requirement is not installed. Further arguments go to vitest.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { NOT_INSTALLED, whatIsMissing, withCluster } from './debian-postgres.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';
import { runVitest } from './run-vitest.mjs';

ensurePackages();
const missing = whatIsMissing();
if (missing.length > 0) {
  console.error(`tests of extensions: NOT RUN, missing: ${missing.join(', ')}`);
  process.exit(NOT_INSTALLED);
}
const files = ['src', 'test'].flatMap((folder) => testFiles(join(root, folder)));
if (files.length === 0) {
  console.error('tests of extensions: no test file imports test/support/extensions.ts');
  process.exit(1);
}
process.exit(await withCluster((url) => play(url)));

function testFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .filter((file) => /from '.*support\/extensions\.ts'/.test(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file));
}

function play(url) {
  return runVitest([...files, ...process.argv.slice(2)], { SVC_TEST_PG_URL: url, SVC_TEST_REQUIRE_EXTENSIONS: '1' });
}

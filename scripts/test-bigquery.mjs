// Runs the tests that need the BigQuery emulator, and installs its packages: tests of the emulator, of the kind `dwh`, and others that start
// one. Further arguments go to vitest.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';
import { runVitest } from './run-vitest.mjs';

const emulator = join(root, 'test', 'support', 'bigquery-emulator');
ensurePackages();
ensurePackages(emulator);
const files = ['src', 'test'].flatMap((folder) => testFiles(join(root, folder)));
process.exit(await runVitest([...files, ...process.argv.slice(2)], { SVC_TEST_REQUIRE_BIGQUERY: '1' }));

function testFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((file) => file.startsWith(emulator) || /(^|\/)bigquery\//.test(relative(root, file)) || usesEmulator(file))
    .map((file) => relative(root, file));
}

function usesEmulator(file) {
  return /from '.*(support\/bigquery-emulator\/|\/bigquery\.ts')/.test(readFileSync(file, 'utf8'));
}

// Writes the pages of docs/reference/ about operations, and the console's lists of operations and database kinds; with --check, only fails
// if one is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { typesPage } = await tsImport('../src/admin-api/types-page.ts', import.meta.url);
const { operationsPage, queryPage } = await tsImport('../src/admin-api/reference-page.ts', import.meta.url);
const { consoleOperations } = await tsImport('../src/admin-api/console-operations.ts', import.meta.url);
const { consoleKinds, consoleStructures } = await tsImport('../src/admin-api/console-kinds.ts', import.meta.url);
const { backends } = await tsImport('../src/databases/index.ts', import.meta.url);
const pages = {
  'docs/reference/metadata-api.md': operationsPage(backends),
  'docs/reference/query-api.md': queryPage(backends),
  'console/src/api/operations.generated.ts': consoleOperations(backends),
  'console/src/model/kinds.generated.ts': consoleKinds(backends),
  'console/src/model/structures.generated.ts': consoleStructures(backends),
  'docs/reference/metadata-types.md': typesPage(backends),
};
const checks = process.argv.includes('--check');
for (const [name, page] of Object.entries(pages)) {
  const path = join(root, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === page) continue;
  if (checks) {
    console.error(`${name} is stale: run \`node scripts/operations-page.mjs\``);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, page);
  }
}

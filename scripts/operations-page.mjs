// Writes the pages of docs/reference/ from the operation tables; with --check it only tells whether one is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { operationsPage, queryPage } = await tsImport('../src/metadata-api/reference-page.ts', import.meta.url);
const { backends } = await tsImport('../src/databases/index.ts', import.meta.url);
const folder = join(root, 'docs', 'reference');
const pages = { 'metadata-api.md': operationsPage(backends), 'query-api.md': queryPage(backends) };
const checks = process.argv.includes('--check');
mkdirSync(folder, { recursive: true });
for (const [name, page] of Object.entries(pages)) {
  const path = join(folder, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === page) continue;
  if (checks) {
    console.error(`docs/reference/${name} is stale: run \`node scripts/operations-page.mjs\``);
    process.exitCode = 1;
  } else writeFileSync(path, page);
}

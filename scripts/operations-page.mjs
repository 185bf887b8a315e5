// Writes docs/reference/metadata-api.md from the operation table; with --check it only tells whether the page is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { operationsPage } = await tsImport('../src/metadata-api/reference-page.ts', import.meta.url);
const { backends } = await tsImport('../src/databases/index.ts', import.meta.url);
const path = join(root, 'docs', 'reference', 'metadata-api.md');
const page = operationsPage(backends);
if (!process.argv.includes('--check')) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, page);
} else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('docs/reference/metadata-api.md is stale: run `node scripts/operations-page.mjs`');
  process.exit(1);
}

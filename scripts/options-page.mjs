// Writes docs/options.md from the option table; with --check, only fails if the page is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { optionsPage } = await tsImport('../src/config/help.ts', import.meta.url);
const path = join(root, 'docs', 'options.md');
const page = optionsPage();
if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('docs/options.md is stale: run `node scripts/options-page.mjs`');
  process.exit(1);
}

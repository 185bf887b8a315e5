// Writes docs/reference/command-line.md from the table of commands; with --check, only fails if the page is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { commandsPage } = await tsImport('../src/cli/commands-page.ts', import.meta.url);
const path = join(root, 'docs', 'reference', 'command-line.md');
const page = commandsPage();
if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  if (process.argv.includes('--check')) {
    console.error('docs/reference/command-line.md is stale: run `node scripts/commands-page.mjs`');
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, page);
  }
}

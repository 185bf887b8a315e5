// Writes docs/reference/metrics.md from the table of metrics; with --check, only fails if the page is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const { tsImport } = await import('tsx/esm/api');
const { metricsReference } = await tsImport('../src/observability/metrics/page.ts', import.meta.url);
const { ALL_METRICS } = await tsImport('../src/app/all-metrics.ts', import.meta.url);
const path = join(root, 'docs', 'reference', 'metrics.md');
const page = metricsReference(ALL_METRICS);
if (!process.argv.includes('--check')) {
  writeFileSync(path, page);
} else if (!existsSync(path) || readFileSync(path, 'utf8') !== page) {
  console.error('docs/reference/metrics.md is stale: run `node scripts/metrics-page.mjs`');
  process.exit(1);
}

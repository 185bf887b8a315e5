import { PROCESS_METRICS } from './definitions.ts';
import type { MetricDefinition } from './registry.ts';

/** The page docs/reference/metrics.md. */
export function metricsReference(all: readonly MetricDefinition[]): string {
  const rows = all.map(({ name, type, labels, freeLabels, help }) => {
    const shown = labels.map((label) => `${label}${freeLabels.includes(label) ? '†' : ''}`).join(', ');
    return `| \`${name}\` | ${type} | ${shown === '' ? '–' : shown} | ${help} |`;
  });
  const bounds = new Map<string, string[]>();
  for (const metric of all) if (metric.type === 'histogram') add(bounds, metric);
  const buckets = [...bounds].map(([list, names]) => `- ${list}: ${names.map((name) => `\`${name}\``).join(', ')}`);
  return [
    '# Metrics',
    '',
    '<!-- Made by scripts/metrics-page.mjs from src/app/all-metrics.ts. -->',
    '',
    'What `/v1/metrics` tells; [how to read them](../metrics.md). † left out without `--metrics-enable-high-cardinality-labels`.',
    '',
    '| name | type | labels | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    '## Of the process',
    '',
    'As Prometheus clients of Node.js have them; some are there on Linux alone.',
    '',
    ...PROCESS_METRICS.map((name) => `- \`${name}\``),
    '',
    '## Buckets',
    '',
    'Upper bounds in seconds.',
    '',
    ...buckets,
    '',
  ].join('\n');
}

function add(bounds: Map<string, string[]>, metric: MetricDefinition): void {
  const list = metric.bounds.join(' ');
  const names = bounds.get(list) ?? [];
  bounds.set(list, [...names, metric.name]);
}

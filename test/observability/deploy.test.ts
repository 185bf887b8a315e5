import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_METRICS } from '../../src/app/all-metrics.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard: { readonly schemaVersion: number; readonly panels: readonly Panel[] } = JSON.parse(
  readFileSync(join(DEPLOY, 'grafana', 'svc-overview.json'), 'utf8'),
);
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Names of series in Prometheus. */
const SERIES = new Set(
  ALL_METRICS.flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])),
);

function promtool(...args: string[]): { readonly status: number | null; readonly output: string } | null {
  const done = spawnSync('promtool', args, { encoding: 'utf8' });
  return done.error === undefined ? { status: done.status, output: done.stdout + done.stderr } : null;
}

it.each(readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(json|ya?ml)$/.test(name)))(
  '%s names existing metrics only',
  (name) => {
    const text = readFileSync(join(DEPLOY, name), 'utf8');
    const named = [...text.matchAll(/(?<![\w/.-])svc_[a-z_]+(?=[{[) ])/g)].map(([found]) => found);
    expect(named.filter((each) => !SERIES.has(each) && !each.startsWith('svc_catalog'))).toEqual([]);
  },
);

describe('labels in expressions', () => {
  const byName = new Map(ALL_METRICS.map((metric) => [metric.name, metric]));
  const alerts = readFileSync(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8');

  it.each([...expressions, alerts])('match those of the metric in expression %#', (text) => {
    for (const [, series = '', selector = ''] of text.matchAll(/(svc_[a-z_]+)\{([^}]*)\}/g)) {
      const metric = byName.get(series) ?? byName.get(series.replace(/_(bucket|sum|count)$/, ''));
      const labels = [...selector.matchAll(/(\w+)(?==~?")/g)].map(([label]) => label);
      const known = ['job', 'instance', ...(metric?.labels ?? [])];
      expect(labels.filter((label) => !known.includes(label))).toEqual([]);
    }
  });
});

it('the dashboard has a schema version that Grafana reads, and every panel has a query', () => {
  expect(dashboard.schemaVersion).toBe(39);
  expect(expressions.length).toBeGreaterThan(30);
});

it("the dashboard's expressions are valid in Prometheus", (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rules-'));
  try {
    const rules = expressions.map((expr, i) => ({ record: `panel:${i}`, expr: expr.replaceAll('$__rate_interval', '5m') }));
    const file = join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const checked = promtool('check', 'rules', file);
    if (checked === null) context.skip('promtool (the package prometheus) is not installed');
    expect(checked).toEqual({ status: 0, output: expect.stringContaining(`SUCCESS: ${rules.length} rules found`) });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the alerts are valid and fire when they should', (context) => {
  const checked = promtool('check', 'rules', join(DEPLOY, 'prometheus', 'alerts.yml'));
  if (checked === null) context.skip('promtool (the package prometheus) is not installed');
  expect(checked).toMatchObject({ status: 0 });
  expect(promtool('test', 'rules', join(DEPLOY, 'prometheus', 'alerts.test.yml'))).toMatchObject({ status: 0 });
});

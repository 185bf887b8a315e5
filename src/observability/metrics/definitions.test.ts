import { expect, it } from 'vitest';
import { ALL_METRICS } from './definitions.ts';

/** What a gauge counts that has no unit of its own. */
const COUNTED =
  /_(info|ready|entries|schemas|flight|connections|subscriptions|pollers|state|cohorts|requests|health|version|objects|batch|workers|workers_max|pending)$/;

it.each(ALL_METRICS.map((metric) => [metric.name, metric] as const))('%s says what it measures, in which unit', (name, metric) => {
  const { type, help, labels, bounds } = metric;
  expect(name).toMatch(/^svc_[a-z0-9_]+$/);
  expect(help).toMatch(/^[A-Z0-9].{10,}\.$/);
  if (type === 'counter') expect(name).toMatch(/_total$/);
  else expect(name).not.toMatch(/_total$/);
  if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
  if (type === 'gauge') expect(/_(seconds|bytes)$/.test(name) || COUNTED.test(name)).toBe(true);
  expect([...bounds].sort((a, b) => a - b)).toEqual([...bounds]);
  expect(bounds.length > 0).toBe(type === 'histogram');
  for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
});

it('has each name once', () => {
  expect(new Set(ALL_METRICS.map(({ name }) => name)).size).toBe(ALL_METRICS.length);
});

import { expect, it } from 'vitest';
import { type MetricDefinition, Registry } from './registry.ts';

const REQUESTS: MetricDefinition = {
  name: 'svc_requests_total',
  help: 'Requests.',
  type: 'counter',
  labels: ['kind', 'operation_name'],
  freeLabels: ['operation_name'],
  bounds: [],
};
const TIME: MetricDefinition = { name: 'svc_time_seconds', help: 'Time.', type: 'histogram', labels: [], freeLabels: [], bounds: [1, 10] };

async function samplesOf(registry: Registry, name: string) {
  return (await registry.families.find(({ definition }) => definition.name === name)?.samples()) ?? [];
}

it('keeps one series for equal labels', async () => {
  const registry = new Registry([REQUESTS], { freeLabels: true });
  registry.counter(REQUESTS, 'query', 'a').add();
  registry.counter(REQUESTS, 'query', 'a').add(2);
  registry.counter(REQUESTS, 'query', 'b').add();
  expect(await samplesOf(registry, REQUESTS.name)).toEqual([
    { labels: ['query', 'a'], value: 3 },
    { labels: ['query', 'b'], value: 1 },
  ]);
});

it('omits free labels and adds up their series', async () => {
  const registry = new Registry([REQUESTS], { freeLabels: false });
  registry.counter(REQUESTS, 'query', 'a').add();
  registry.counter(REQUESTS, 'query', 'b').add();
  registry.read(REQUESTS, () => [{ labels: ['query', 'c'], value: 5 }]);
  expect(await samplesOf(registry, REQUESTS.name)).toEqual([{ labels: ['query'], value: 7 }]);
});

it('counts series beyond the maximum together', async () => {
  const registry = new Registry([REQUESTS], { freeLabels: true });
  for (let i = 0; i < 5000; i++) registry.counter(REQUESTS, 'query', `name ${i}`).add();
  const samples = await samplesOf(registry, REQUESTS.name);
  expect(samples.length).toBe(1001);
  expect(samples.reduce((sum, { value }) => sum + Number(value), 0)).toBe(5000);
  expect(samples.at(-1)).toEqual({ labels: ['_other', '_other'], value: 4000 });
});

it('counts each value in the first bucket that contains it', () => {
  const registry = new Registry([TIME], { freeLabels: true });
  const histogram = registry.histogram(TIME);
  for (const value of [0, 1, 1.5, 10, 11]) histogram.observe(value);
  expect([...histogram.counts]).toEqual([2, 2, 1]);
  expect([histogram.sum, histogram.count]).toEqual([23.5, 5]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLines, decodeMetrics } from '../../../test/support/collector.ts';
import { runs } from '../../../test/support/deep.ts';
import { Histogram } from '../metrics/histogram.ts';
import { LineTap } from './line-tap.ts';
import { encodeLines, type LogLine } from './log-lines.ts';
import { encodeMetrics, type ExportedMetric } from './metrics.ts';

const resource = { attributes: new Map([['service.name', 'x']]), scope: { name: 's', version: '1' } };
const line = (text: string): LogLine => ({ text, time: 1_700_000_000_123, size: text.length });
const decoded = (detail: string) =>
  decodeLines(encodeLines([line(`{"level":"warn","timestamp":"t","type":"t-log","detail":${detail}}\n`)], resource)).lines[0];

describe('a log line', () => {
  it('is encoded with its level, type, time and structure', () => {
    expect(decoded('{"a":[1,"b",true,null,{"c":1.5}],"n":{}}')).toEqual({
      time: 1_700_000_000_123_000_000n,
      severity: 13,
      level: 'warn',
      body: { a: [1, 'b', true, null, { c: 1.5 }], n: {} },
      attributes: { type: 't-log' },
      traceId: '',
      spanId: '',
    });
  });

  it('has the same content after decoding', () => {
    // Without -0, which JSON has but the integers of the protocol do not have.
    const value = fc.jsonValue({ maxDepth: 6 }).filter((json) => !JSON.stringify(json).includes('-0'));
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json);
        // Compared as texts, in which `__proto__` is an ordinary key.
        expect(JSON.stringify(decoded(text)?.body)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { ...runs(1_000, 100), examples: [[{ '': [] }], [[[]]], [JSON.parse('{"__proto__": false}')]] },
    );
  });

  it('has numbers that a double cannot hold as text', () => {
    expect(decoded('{"id":12345678901234567890123}')?.body).toEqual({ id: '12345678901234567890123' });
  });

  it('has long strings cut, and is sent as text if it is too deep or too long', () => {
    expect(decoded(JSON.stringify({ a: 'x'.repeat(100_000) }))?.body).toEqual({ a: 'x'.repeat(32_768) });
    const lists = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    let inner = decoded(lists(100))?.body;
    for (let i = 0; i < 16; i++) [inner] = inner as readonly unknown[];
    expect(inner).toBe(lists(84));
    for (const detail of [lists(100_000), JSON.stringify(Array.from({ length: 300_000 }, () => 'abc'))]) {
      const long = decoded(detail);
      expect(long).toMatchObject({ level: 'warn', severity: 13, attributes: { type: 't-log' } });
      expect(String(long?.body)).toHaveLength(32_768);
      expect(long?.body).toContain('{"level":"warn",');
    }
  });

  it('is sent as text if it is not JSON', () => {
    expect(decodeLines(encodeLines([line('no JSON')], resource)).lines[0]).toMatchObject({ body: 'no JSON', attributes: {} });
  });
});

it('the tap buffers a limited number of lines before the first sink', () => {
  const tap = new LineTap();
  for (let i = 0; i < 500; i++) tap.take(String(i), i);
  const taken: LogLine[] = [];
  tap.follow({ take: (each) => taken.push(each) });
  tap.take('more', 1);
  expect(taken.map(({ text }) => text)).toEqual([...Array.from({ length: 200 }, (_, i) => String(i)), 'more']);
  tap.follow(null);
  expect(tap.isOpen).toBe(false);
  tap.take('unseen', 1);
  tap.follow({ take: (each) => taken.push(each) });
  expect(taken.length).toBe(201);
});

describe('metrics', () => {
  const definition = (name: string, type: 'counter' | 'gauge' | 'histogram') => ({ name, help: `of ${name}`, type });

  it('encode buckets, sum and count of a histogram', () => {
    const value = new Histogram([0.1, 1]);
    for (const each of [0.05, 0.5, 0.6, 7]) value.observe(each);
    const metric: ExportedMetric = {
      definition: definition('t_seconds', 'histogram'),
      since: 5,
      points: [{ labels: [['a', 'b']], value }],
    };
    const [request] = [...encodeMetrics([metric], 1_700_000_000_000, resource)];
    expect(decodeMetrics(request as Buffer)).toMatchObject({ resource: { 'service.name': 'x' } });
    expect(decodeMetrics(request as Buffer).metrics.get('t_seconds')).toEqual({
      description: 'of t_seconds',
      unit: 's',
      kind: 'histogram',
      temporality: 2,
      isMonotonic: false,
      points: [
        {
          attributes: { a: 'b' },
          start: 5_000_000n,
          time: 1_700_000_000_000_000_000n,
          value: { count: 4, sum: value.sum, counts: [1, 2, 1], bounds: [0.1, 1] },
        },
      ],
    });
  });

  it('are split into requests with a maximum number of points', () => {
    const points = (count: number) => Array.from({ length: count }, (_, i) => ({ labels: [['i', String(i)]] as const, value: i }));
    const metrics = [4000, 0, 3000, 12_000, 1].map(
      (count, i): ExportedMetric => ({
        ...{ definition: definition(`m${i}`, i === 0 ? 'gauge' : 'counter'), since: 1 },
        points: points(count),
      }),
    );
    const requests = [...encodeMetrics(metrics, 2, resource)].map((each) => decodeMetrics(each).metrics);
    expect(requests.map((each) => [...each.values()].reduce((sum, one) => sum + one.points.length, 0))).toEqual([5000, 5000, 5000, 4001]);
    for (const {
      definition: { name },
      points: all,
    } of metrics) {
      const found = requests.flatMap((each) => each.get(name)?.points ?? []);
      expect(found.map(({ value }) => value)).toEqual(all.map(({ value }) => value));
    }
    expect([...encodeMetrics([], 2, resource)]).toEqual([]);
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeSpans } from '../../../test/support/collector.ts';
import { ExportCounts } from '../otlp/batch-queue.ts';
import { encodeSpans } from '../otlp/spans.ts';
import { type EndedSpan, Span } from './span.ts';
import { Tracer, type TracerOptions } from './tracer.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const INCOMING = { traceId: TRACE, spanId: 'b7ad6b7169203331', isSampled: null, state: null };

function tracer(options: Partial<TracerOptions> = {}) {
  const sent: EndedSpan[][] = [];
  const counts = new ExportCounts();
  const made = new Tracer({
    sampling: { followsParent: true, ratio: 1 },
    maxQueue: 4,
    maxQueueBytes: 1_000_000,
    maxBatch: 2,
    delay: 60_000,
    showsSql: false,
    counts,
    send: async (spans) => sent.push([...spans]) > 0,
    ...options,
  });
  return { tracer: made, sent, counts };
}

describe('sampling', () => {
  it.each([
    ['follows a caller that samples', { followsParent: true, ratio: 0 }, { ...INCOMING, isSampled: true }, true],
    ['follows a caller that does not sample', { followsParent: true, ratio: 1 }, { ...INCOMING, isSampled: false }, false],
    ['decides if the caller has not decided', { followsParent: true, ratio: 1 }, INCOMING, true],
    ['ignores the caller without followsParent', { followsParent: false, ratio: 0 }, { ...INCOMING, isSampled: true }, false],
    ['starts traces', { followsParent: true, ratio: 1 }, null, true],
  ])('%s', (_, sampling, incoming, expected) => {
    expect(tracer({ sampling }).tracer.begin('a', 'server', incoming).isSampled).toBe(expected);
  });

  it('samples about the configured fraction, and the same traces each time', () => {
    const { tracer: made } = tracer({ sampling: { followsParent: true, ratio: 0.25 } });
    const spans = Array.from({ length: 4000 }, () => made.begin('a', 'server', null));
    const part = spans.filter(({ isSampled }) => isSampled).length / spans.length;
    expect(part).toBeGreaterThan(0.2);
    expect(part).toBeLessThan(0.3);
    for (const { traceId, isSampled } of spans.slice(0, 50)) {
      expect(made.begin('a', 'server', { ...INCOMING, traceId }).isSampled).toBe(isSampled);
    }
  });

  it('keeps the ids of an unsampled trace, so that the decision reaches other services', () => {
    const span = tracer({ sampling: { followsParent: true, ratio: 0 } }).tracer.begin('a', 'server', INCOMING);
    expect(span.traceId).toBe(TRACE);
    expect(span.child('b')).toBe(span);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('the span queue', () => {
  it('sends full batches, and the rest at the end', async () => {
    const { tracer: made, sent, counts } = tracer();
    const root = made.begin('root', 'server', null);
    root.child('one').end();
    root.end();
    root.end();
    made.begin('other', 'server', null).end();
    await made.flush(1000);
    expect(sent.map((batch) => batch.map(({ name }) => name))).toEqual([['one', 'root'], ['other']]);
    expect(counts).toMatchObject({ sent: 3, full: 0, failed: 0 });
  });

  it('drops and counts spans that do not fit or are not accepted', async () => {
    let release = (_: boolean): void => undefined;
    const { tracer: made, counts } = tracer({
      send: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    for (let i = 0; i < 10; i++) made.begin('a', 'server', null).end();
    // Two are on their way and four wait.
    expect(counts.full).toBe(4);
    release(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(counts.failed).toBe(2);
    await made.flush(1);
    // Two more are on their way.
    expect(counts.failed + counts.full).toBe(8);
  });
});

describe('queued spans', () => {
  it('are limited in bytes, per span and in total', async () => {
    const { tracer: made, sent, counts } = tracer({ maxQueue: 1000, maxBatch: 1000, maxQueueBytes: 100_000 });
    for (let i = 0; i < 10; i++) made.begin('a', 'server', null).set('text', 'x'.repeat(1_000_000)).end();
    expect(counts.full).toBe(7);
    await made.flush(1000);
    const [text = ''] = sent.flat().map(({ attributes }) => attributes.get('text'));
    expect(String(text).length).toBeLessThan(40_000);
    made.begin('a', 'server', null).end();
    expect(counts.full).toBe(7);
    await made.flush(1000);
  });

  it('are sent in requests of limited size', async () => {
    const { tracer: made, sent } = tracer({ maxQueue: 1000, maxBatch: 1000, maxQueueBytes: 10_000_000 });
    for (let i = 0; i < 100; i++) made.begin('a', 'server', null).set('text', 'x'.repeat(30_000)).end();
    await made.flush(1000);
    expect(sent.flat()).toHaveLength(100);
    expect(sent.length).toBeGreaterThan(2);
  });
});

describe('span time', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('follows the system clock when that is set, and durations do not', () => {
    const ended: EndedSpan[] = [];
    const sink = { showsSql: false, take: (each: EndedSpan) => ended.push(each) };
    const parent = { traceId: TRACE, parentId: null, state: null };
    const before = new Span(parent, 'a', 'server', sink);
    vi.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] });
    before.end();
    new Span(parent, 'b', 'server', sink).end();
    vi.setSystemTime(Date.now() - 7_200_000);
    new Span(parent, 'c', 'server', sink).end();
    for (const { start, end } of ended) expect(end - start).toBeLessThan(60_000);
    const [first, second, third] = ended.map(({ start }) => start);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(3_500_000);
    expect((second ?? 0) - (third ?? 0)).toBeGreaterThan(7_100_000);
  });
});

it('encodes spans as the protocol specifies', () => {
  const ended: EndedSpan[] = [];
  const parent = { traceId: TRACE, parentId: 'b7ad6b7169203331', state: 'a=1,b=2' };
  const span = new Span(parent, 'größe', 'client', { showsSql: false, take: (each) => ended.push(each) });
  span
    .set('text', 'ä'.repeat(5000))
    .set('int', 42)
    .set('big', 2 ** 53 - 1)
    .set('negative', -7)
    .set('double', 0.5)
    .set('bool', true)
    .set('list', ['a', 'b']);
  span.set('none', null).fail('40001');
  span.end();
  const many = Array.from({ length: 2000 }, () => ended[0] as EndedSpan);
  const resource = { attributes: new Map([['service.name', 'svc']]), scope: { name: 's', version: '1' } };
  const decoded = decodeSpans(encodeSpans(many, resource));
  expect(decoded.resource).toEqual({ 'service.name': 'svc' });
  expect(decoded.spans).toHaveLength(2000);
  expect(decoded.spans[1999]).toMatchObject({
    traceId: TRACE,
    spanId: span.spanId,
    parentId: 'b7ad6b7169203331',
    state: 'a=1,b=2',
    name: 'größe',
    kind: 3,
    isError: true,
    attributes: {
      text: 'ä'.repeat(5000),
      int: 42,
      big: 2 ** 53 - 1,
      negative: -7,
      double: 0.5,
      bool: true,
      list: ['a', 'b'],
      'error.type': '40001',
    },
  });
  const { start = 0n, end = 0n } = decoded.spans[0] ?? {};
  expect(Math.abs(Number(start / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  expect(end >= start).toBe(true);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { httpLogLine } from './http-log-line.ts';
import type { HttpObservation } from './observation.ts';
import { runs } from '../../test/support/deep.ts';

const text = fc.string({ unit: 'binary' });
const observation: fc.Arbitrary<HttpObservation> = fc.record({
  kind: fc.constant('http'),
  requestId: text,
  method: text,
  url: text,
  httpVersion: text,
  ip: text,
  status: fc.integer({ min: 100, max: 599 }),
  role: fc.option(text),
  userVariables: fc.option(fc.array(fc.tuple(text, text)).map((entries) => new Map(entries))),
  mode: fc.constantFrom('single', 'batched', 'non-graphql', 'error'),
  operationName: fc.option(text),
  query: fc.option(fc.record({ query: text, variables: fc.record({ x: text }) })),
  responseSize: fc.nat(),
  duration: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  encoding: fc.option(text),
  error: fc.option(fc.record({ path: text, code: text, message: text })),
});

test('prints a request as one line of JSON', () => {
  fc.assert(
    fc.property(observation, (o) => {
      const line = httpLogLine(o, '2024-05-01T10:00:00.123+0000');
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual({
        level: o.error === null ? 'info' : 'error',
        timestamp: '2024-05-01T10:00:00.123+0000',
        type: 'http-log',
        detail: {
          request_id: o.requestId,
          http_info: {
            status: o.status,
            method: o.method,
            ip: o.ip,
            url: o.url,
            http_version: o.httpVersion,
            content_encoding: o.encoding,
          },
          operation: {
            request_id: o.requestId,
            user_vars: o.userVariables === null ? null : JSON.parse(JSON.stringify(Object.fromEntries(o.userVariables))),
            request_mode: o.mode,
            operation_name: o.operationName,
            ...(o.query === null ? {} : { query: o.query }),
            response_size: o.responseSize,
            query_execution_time: o.duration,
            ...(o.error === null ? {} : { error: o.error }),
          },
        },
      });
    }),
    runs(100, 100),
  );
});

test('repeats the facts of the previous line only if they are equal', () => {
  const [first] = fc.sample(observation, 1) as [HttpObservation];
  const requests: readonly HttpObservation[] = [
    first,
    { ...first, status: 201 },
    { ...first, method: 'PATCH"' },
    { ...first, ip: '::2' },
    { ...first, url: '/other' },
    { ...first, url: `/${'long'.repeat(500)}` },
    { ...first, httpVersion: '1.0' },
    { ...first, encoding: 'br' },
  ];
  for (const request of requests.flatMap((each) => [each, each, first])) {
    const { status, method, ip, url, httpVersion, encoding } = request;
    const line = JSON.parse(httpLogLine(request, 'now')) as { detail: { http_info: object } };
    expect(line.detail.http_info).toEqual({ status, method, ip, url, http_version: httpVersion, content_encoding: encoding });
  }
});

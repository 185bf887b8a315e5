import { expect, test } from 'vitest';
import { parseJson } from '../util/json.ts';
import { queryLogLine } from './query-log-line.ts';

test('prints a query and its statements as one line, with numbers unchanged', () => {
  const variables = parseJson('{"n": 12345678901234567890.10}') as never;
  const line = queryLogLine(
    {
      kind: 'query',
      requestId: 'r"1',
      query: { query: 'query ($n: numeric) {\n a }', variables },
      statements: new Map([
        ['__proto__', { text: 'select $1', values: ['1', null] }],
        ['b', { text: 'select 2', values: [] }],
      ]),
    },
    '2024-05-01T10:00:00.123+0000',
  );
  expect(line).toBe(
    '{"level":"info","timestamp":"2024-05-01T10:00:00.123+0000","type":"query-log","detail":{"request_id":"r\\"1",' +
      '"query":{"query":"query ($n: numeric) {\\n a }","variables":{"n":12345678901234567890.10}},"kind":"database",' +
      '"generated_sql":{"__proto__":{"query":"select $1","prepared_arguments":["1",null]},"b":{"query":"select 2","prepared_arguments":[]}}}}\n',
  );
});

test('prints an introspection query without statements', () => {
  const line = queryLogLine({ kind: 'query', requestId: 'r', query: { query: '{ __typename }' }, statements: null }, 'now');
  expect(JSON.parse(line).detail).toEqual({
    request_id: 'r',
    query: { query: '{ __typename }' },
    kind: 'introspection',
    generated_sql: null,
  });
});

test('prints requests to remote schemas, with and without statements', () => {
  const remoteRequests = new Map([['a.b', { remoteSchema: 'r', document: '{b}' }]]);
  const detail = (statements: ReadonlyMap<string, { text: string; values: readonly string[] }> | null) =>
    JSON.parse(queryLogLine({ kind: 'query', requestId: 'r', query: { query: '' }, statements, remoteRequests }, 'now')).detail;
  const asked = { remote_requests: { 'a.b': { remote_schema: 'r', query: '{b}' } } };
  expect(detail(null)).toMatchObject({ kind: 'remote-schema', generated_sql: null, ...asked });
  expect(detail(new Map([['a', { text: 'select', values: [] }]]))).toMatchObject({ kind: 'database', ...asked });
});

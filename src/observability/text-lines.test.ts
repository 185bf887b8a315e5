import { describe, expect, it } from 'vitest';
import type { HttpObservation, Observation } from './observation.ts';
import { textLines } from './text-lines.ts';

const NOW = new Date(2024, 4, 1, 10, 11, 12);
const ESCAPE = '\u001b';
const plain = (o: Observation): string => textLines(false)(o, 'info', NOW);

const request: HttpObservation = {
  kind: 'http',
  requestId: 'r1',
  method: 'POST',
  url: '/v1/graphql',
  httpVersion: '1.1',
  ip: '127.0.0.1',
  status: 200,
  role: 'user',
  userVariables: new Map([['x-svc-user-id', '1']]),
  mode: 'single',
  operationName: 'List',
  query: null,
  responseSize: 12,
  duration: 0.00321,
  encoding: null,
  error: null,
};

describe('textLines', () => {
  it('prints the main facts of a request', () => {
    expect(plain(request)).toBe('10:11:12 INFO  POST /v1/graphql 200 3.2 ms 12 B user List 127.0.0.1\n');
    const error = { path: '$.query', code: 'validation-failed', message: 'no such field' };
    expect(plain({ ...request, error })).toContain(' validation-failed: no such field at $.query\n');
  });

  it('prints the summary of the start, but not the configuration', () => {
    expect(plain({ kind: 'startup', message: 'server_configuration', info: { database_url: 'x' } })).toBe('');
    const info = {
      url: 'http://127.0.0.1:8080',
      databases: ['default (pg): 2 tracked tables', 'other'],
      metadata: 'm',
      open_to: ['nobody'],
    };
    expect(plain({ kind: 'startup', message: 'listening', info }).split('\n')).toEqual([
      '10:11:12 INFO  listening at http://127.0.0.1:8080',
      '  databases  default (pg): 2 tracked tables',
      '             other',
      '  metadata   m',
      '  open to    nobody',
      '',
    ]);
    expect(plain({ kind: 'startup', message: 'x', info: { warning: 'take care' } })).toBe('10:11:12 INFO  take care\n');
  });

  it('prints all other observations', () => {
    expect(plain({ kind: 'source', source: 'far', event: 'unavailable', message: 'refused' })).toBe(
      '10:11:12 INFO  far unavailable: refused\n',
    );
    expect(plain({ kind: 'metadata', message: 'changed', info: { version: 2 } })).toBe(
      '10:11:12 INFO  metadata message=changed version=2\n',
    );
    expect(plain({ kind: 'metadata', message: 'by "x" \\ y', info: { none: '', list: ['a b'] } })).toBe(
      '10:11:12 INFO  metadata message="by \\"x\\" \\\\ y" none="" list=["a b"]\n',
    );
    expect(plain({ kind: 'jwk-refresh', url: 'https://keys', message: 'no', error: null })).toContain(
      'jwk-refresh-log url=https://keys message=no\n',
    );
    expect(plain({ kind: 'unexpected', message: 'failed', error: new Error('why') })).toMatch(/failed\nError: why\n {4}at /);
    const statements = new Map([['item', { text: 'select 1', values: ['a', null] }]]);
    expect(plain({ kind: 'query', requestId: 'r', query: { query: '{ item }' }, statements })).toBe(
      '10:11:12 INFO  query {"query":"{ item }"}\n  item: select 1 ["a",null]\n',
    );
  });

  it('uses colours only if they are enabled', () => {
    expect(plain(request)).not.toContain(ESCAPE);
    expect(textLines(true)(request, 'error', NOW)).toContain(`${ESCAPE}[31mERROR${ESCAPE}[0m`);
  });

  it('escapes control characters', () => {
    const evil = `a${ESCAPE}[2Jb\r\nc\u009b31m\u202e`;
    const escaped = 'a\\u001b[2Jb\\u000d\\u000ac\\u009b31m\\u202e';
    const all: readonly Observation[] = [
      { ...request, url: evil, method: evil, operationName: evil, role: evil, ip: evil, error: { path: evil, code: evil, message: evil } },
      { kind: 'query', requestId: evil, query: { q: 1 }, statements: new Map([[evil, { text: evil, values: [] }]]) },
      { kind: 'source', source: evil, event: evil, message: evil },
      { kind: 'shutdown', message: evil },
      { kind: 'startup', message: 'listening', info: { url: evil, databases: [evil] } },
      { kind: 'startup', message: evil, info: { message: evil } },
      { kind: 'startup', message: evil, info: { warning: evil } },
      { kind: 'metadata', message: evil, info: { x: evil } },
    ];
    for (const observation of all) {
      const text = plain(observation);
      expect(text).toContain(escaped);
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
  });
});

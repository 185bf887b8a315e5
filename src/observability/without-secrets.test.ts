import { expect, it } from 'vitest';
import { type Json, parseJson, printJson } from '../util/json.ts';
import { withoutSecrets } from './without-secrets.ts';

const M = '[MASKED]';

it.each<[string, Json, Json]>([
  ['a connection string', { database_url: 'postgres://u:hush@h/d' }, { database_url: M }],
  ['its variable', { database_url: { from_env: 'URL' } }, { database_url: { from_env: 'URL' } }],
  [
    'its parts',
    { database_url: { connection_parameters: { host: 'h', username: 'u', password: 'hush' } } },
    { database_url: { connection_parameters: { host: 'h', username: 'u', password: M } } },
  ],
  ['what only looks like a reference', { database_url: { from_env: 'URL', hint: 'hush' } }, { database_url: { from_env: 'URL', hint: M } }],
  ['replicas', { read_replicas: [{ database_url: 'hush' }] }, { read_replicas: [{ database_url: M }] }],
  [
    'headers',
    { headers: [{ name: 'a', value: 'hush' }, { name: 'b', value_from_env: 'B' }, 'hush'] },
    { headers: [{ name: 'a', value: M }, { name: 'b', value_from_env: 'B' }, M] },
  ],
  [
    'headers of a transform',
    { request_transform: { request_headers: { add_headers: { a: 'hush' }, remove_headers: ['b'] } } },
    { request_transform: { request_headers: { add_headers: { a: M }, remove_headers: ['b'] } } },
  ],
  ['an environment', { env: { A: 'hush' } }, { env: { A: M } }],
  ['a list of secrets', { jwt_secrets: ['hush', { key: 'hush' }] }, { jwt_secrets: M }],
  ['URLs', { webhook: 'https://u:h@hush@h/p?key=hush#hush' }, { webhook: 'https://***@h/p?***' }],
  ['a URL of a template', { handler: '{{BASE}}/p?key=hush', url: 'items/:id' }, { handler: '{{BASE}}/p?***', url: 'items/:id' }],
  ['parameters of a URL', { query_params: { key: 'hush' } }, { query_params: { key: M } }],
  ['a URL in a text', { sql: "select dblink('postgres://u:hush@h/d?x=1')" }, { sql: "select dblink('postgres://***@h/d?x=1')" }],
])('hides %s at any depth', (_what, given, expected) => {
  const within = (json: Json): Json => ({ type: 'bulk', args: [{ type: 'x', args: { sources: [json] } }] });
  expect(withoutSecrets(within(given))).toEqual(within(expected));
});

it('leaves everything else unchanged', () => {
  const text = '{"type":"pg_track_table","args":{"table":{"schema":"s","name":"token"},"n":1.00,"a":[null,true,"a ? b"],"__proto__":1}}';
  expect(printJson(withoutSecrets(parseJson(text)))).toBe(text);
});

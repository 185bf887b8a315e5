import { expect, it } from 'vitest';
import { mayHoldPassword } from './password-text.ts';

it.each([
  "alter role app PASSWORD 'x'",
  "create user app identified\n  by 'x'",
  "select dblink_connect('postgres://app:secret@db.internal/shop')",
  "create server s options (host 'db', passwd 'x')",
  "select dblink_connect('host=db user=app pwd=x')",
])('leaves %s out of the history', (sql) => {
  expect(mayHoldPassword(sql)).toBe(true);
});

it.each([
  'select identified from suspect',
  "select 'https://example.com/a:b@c' from link",
  "select 'https://example.com:8080/me@example.com'",
  'select a::text from t where b @> c',
])('keeps %s', (sql) => {
  expect(mayHoldPassword(sql)).toBe(false);
});

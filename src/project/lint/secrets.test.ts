import { expect, it } from 'vitest';
import { withSecretsHidden } from './secrets.ts';

it.each([
  ['postgres://user:secret@host/db', 'postgres://user:***@host/db'],
  ['https://hooks.example.com/a:b@c', 'https://hooks.example.com/a:b@c'],
  ['jdbc:mariadb://host/db?user=a&password=secret&x=1', 'jdbc:mariadb://host/db?user=a&password=***&x=1'],
  [
    { password: 'secret', user: 'a' },
    { password: '***', user: 'a' },
  ],
  [
    [
      { name: 'Authorization', value: 'Bearer secret' },
      { name: 'Accept', value: 'text/plain' },
    ],
    [
      { name: 'Authorization', value: '***' },
      { name: 'Accept', value: 'text/plain' },
    ],
  ],
  [
    { name: 'x-token', value_from_env: 'TOKEN' },
    { name: 'x-token', value_from_env: 'TOKEN' },
  ],
  [7, 7],
])('hides what looks like a secret in %j', (value, expected) => {
  expect(withSecretsHidden(value)).toEqual(expected);
});

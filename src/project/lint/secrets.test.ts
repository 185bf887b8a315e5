import { expect, it } from 'vitest';
import { withSecretsHidden } from './secrets.ts';

it.each([
  ['postgres://user:secret@host/db', 'postgres://user:***@host/db'],
  ['https://hooks.example.com/a:b@c', 'https://hooks.example.com/a:b@c'],
  ['jdbc:mariadb://host/db?user=a&password=secret&x=1', 'jdbc:mariadb://host/db?user=a&password=***&x=1'],
  ['https://hooks.example.com/in?v=1&token=secret&x=2#part', 'https://hooks.example.com/in?v=1&token=***&x=2#part'],
  ['https://hooks.example.com/in?api_key=secret', 'https://hooks.example.com/in?api_key=***'],
  ['https://hooks.example.com/in?X-Amz-Signature=secret', 'https://hooks.example.com/in?X-Amz-Signature=***'],
  ['https://hooks.example.com/in?token={{TOKEN}}&author=a&page=2', 'https://hooks.example.com/in?token={{TOKEN}}&author=a&page=2'],
  ['{"private_key": "secret", "type": "service_account"}', '{"private_key": "***", "type": "service_account"}'],
  [{ service_account: { private_key: 'secret' } }, { service_account: { private_key: '***' } }],
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

import { describe, expect, it } from 'vitest';
import { ADMIN } from './persona.ts';
import { curlOf, fetchOf } from './request-code.ts';
import { requestHeaders, withoutAliases, withoutIdentity } from './request-headers.ts';

const CLERK = { role: 'clerk', variables: { 'user-id': '4' } };

describe('requestHeaders', () => {
  it('replaces a persona header with a custom one, case-insensitively', () => {
    expect(requestHeaders(ADMIN, { 'x-svc-role': 'customer', 'X-Trace': '1' })).toEqual({
      headers: { 'x-svc-role': 'customer', 'X-Trace': '1' },
      hasSecret: true,
      as: { role: 'customer', variables: {} },
    });
    expect(requestHeaders(CLERK, { 'X-SVC-User-Id': '5' })).toMatchObject({
      headers: { 'X-Svc-Role': 'clerk', 'X-SVC-User-Id': '5' },
      as: { role: 'clerk', variables: { 'user-id': '5' } },
    });
    expect(() => requestHeaders(ADMIN, { 'x-a': '1', 'X-A': '2' })).toThrow('set twice');
  });

  it('sends neither the secret nor the role of the persona with a token', () => {
    expect(requestHeaders(CLERK, { Authorization: 'Bearer abc' })).toEqual({
      headers: { Authorization: 'Bearer abc' },
      hasSecret: false,
      as: { role: '', variables: {}, token: 'abc' },
    });
    expect(requestHeaders(CLERK, { 'X-Svc-Admin-Secret': 'other' })).toMatchObject({ hasSecret: false, as: CLERK });
    expect(requestHeaders({ role: 'fan', variables: {}, token: 'abc' })).toMatchObject({
      headers: { Authorization: 'Bearer abc', 'X-Svc-Role': 'fan' },
      hasSecret: false,
    });
  });

  it('treats headers with an alias prefix like X-Svc- headers', () => {
    const custom = withoutAliases({ 'X-Hasura-Role': 'customer', 'x-hasura-User-Id': '5', 'X-Trace': '1' }, ['x-hasura-']);
    expect(requestHeaders(ADMIN, custom)).toEqual({
      headers: { 'X-Svc-Role': 'customer', 'X-Svc-User-Id': '5', 'X-Trace': '1' },
      hasSecret: true,
      as: { role: 'customer', variables: { 'user-id': '5' } },
    });
    expect(withoutAliases({ 'X-Hasura-Role': 'customer' }, [])).toEqual({ 'X-Hasura-Role': 'customer' });
  });

  it('removes the identity for a comparison', () => {
    expect(withoutIdentity({ 'x-svc-role': 'a', authorization: 'b', 'X-Svc-Shop': 'c' })).toEqual({ 'X-Svc-Shop': 'c' });
  });
});

describe('request as code', () => {
  it('has every header that is sent, with a variable for the secret', () => {
    const { headers, hasSecret } = requestHeaders(ADMIN, { 'X-Svc-Role': "o'clerk", 'x-svc-admin-secret': 'secret' });
    expect(curlOf('http://h/v1/graphql', { query: '{ a }' }, { headers, hasSecret: true })).toBe(
      `curl -s 'http://h/v1/graphql' \\
  -H 'Content-Type: application/json' \\
  -H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET" \\
  -H 'X-Svc-Role: o'\\''clerk' \\
  -H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET" \\
  -d '{"query":"{ a }"}'`,
    );
    expect(hasSecret).toBe(false);
    expect(curlOf('u', {}, { headers, hasSecret })).not.toContain('secret"');
  });

  it('has a variable for the token of a persona', () => {
    const persona = { role: '', variables: {}, token: 'abc' };
    const { headers, hasSecret } = requestHeaders(persona);
    const options = { headers, hasSecret };
    expect(curlOf('u', {}, options)).toContain('-H "Authorization: Bearer $TOKEN"');
    expect(fetchOf('u', {}, options)).toMatch(/"Authorization": `Bearer \$\{process\.env\.TOKEN\}`/);
  });

  it('has variables for the credentials in headers of the request', () => {
    const headers = { authorization: 'Basic YTpi', Cookie: 'session=abc', 'X-API-Key': 'k1', 'X-Trace': 't' };
    const curl = curlOf('u', {}, { headers, hasSecret: false });
    for (const line of ['"authorization: $AUTHORIZATION"', '"Cookie: $COOKIE"', '"X-API-Key: $API_KEY"', "'X-Trace: t'"])
      expect(curl).toContain(`-H ${line}`);
    const code = fetchOf('u', {}, { headers: { ...headers, authorization: 'bearer abc' }, hasSecret: false });
    expect(code).toMatch(/"authorization": `Bearer \$\{process\.env\.TOKEN\}`/);
    expect(code).toContain('"Cookie": process.env.COOKIE');
    for (const value of ['YTpi', 'abc', 'k1']) expect(curl + code).not.toContain(value);
  });
});

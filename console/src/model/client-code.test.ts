import { describe, expect, it } from 'vitest';
import { apolloOf, templateLiteral, urqlOf } from './client-code.ts';

const REQUEST = { url: 'http://localhost:8080/v1/graphql', query: 'query A($x: Int) {\n  a(x: $x)\n}\n', variables: { x: 1 } } as const;
const OPTIONS = { hasSecret: true, headers: { 'X-Svc-Role': 'reader' } };

describe('code of clients', () => {
  it('runs a query with urql, without the secret', () => {
    expect(urqlOf({ ...REQUEST, kind: 'query' }, OPTIONS)).toBe(
      [
        "import { cacheExchange, createClient, fetchExchange, gql } from '@urql/core';",
        '',
        'const client = createClient({',
        '  url: "http://localhost:8080/v1/graphql",',
        '  exchanges: [cacheExchange, fetchExchange],',
        '  fetchOptions: {',
        '    headers: {',
        '      "X-Svc-Admin-Secret": process.env.SVC_GRAPHQL_ADMIN_SECRET,',
        '      "X-Svc-Role": "reader",',
        '    },',
        '  },',
        '});',
        '',
        'const document = gql`',
        '  query A($x: Int) {',
        '    a(x: $x)',
        '  }',
        '`;',
        'const variables = { "x": 1 };',
        '',
        'const { data, error } = await client.query(document, variables).toPromise();',
      ].join('\n'),
    );
  });

  it('runs mutations and subscriptions with Apollo', () => {
    expect(apolloOf({ ...REQUEST, kind: 'mutation' }, OPTIONS)).toContain('await client.mutate({ mutation: document, variables })');
    const subscription = apolloOf({ ...REQUEST, variables: undefined, kind: 'subscription' }, OPTIONS);
    expect(subscription).toContain('url: "ws://localhost:8080/v1/graphql"');
    expect(subscription).toContain('client.subscribe({ query: document })');
  });

  it('quotes documents', () => {
    const hole = ['$', '{b}'].join('');
    expect(templateLiteral(`{ a(x: "\`${hole}\\n") }`)).toBe(`\`\n  { a(x: "\\\`\\${hole}\\\\n") }\n\``);
  });
});

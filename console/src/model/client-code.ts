/** Requests as code of GraphQL clients. Secrets appear as environment variables. */
import type { OperationKind } from './graphql-document.ts';
import { type JsonObject, printJson } from './json.ts';
import { type CodeOptions, headerEntries } from './request-code.ts';

export interface ClientRequest {
  readonly url: string;
  readonly query: string;
  readonly variables: JsonObject | undefined;
  readonly kind: OperationKind;
}

/** Returns a program with `@urql/core` that runs the operation. */
export function urqlOf(request: ClientRequest, options: CodeOptions): string {
  const { url, kind, variables } = request;
  const isSubscription = kind === 'subscription';
  const args = variables === undefined ? '{}' : 'variables';
  const call = isSubscription
    ? `client.subscription(document, ${args}).subscribe(({ data, error }) => console.log(data ?? error));`
    : `const { data, error } = await client.${kind}(document, ${args}).toPromise();`;
  return [
    "import { cacheExchange, createClient, fetchExchange, gql } from '@urql/core';",
    '',
    'const client = createClient({',
    `  url: ${JSON.stringify(url)},`,
    '  exchanges: [cacheExchange, fetchExchange],',
    ...(isSubscription ? ['  fetchSubscriptions: true,'] : []),
    `  fetchOptions: {${headersOf(options, '    ')}},`,
    '});',
    '',
    ...documentLines(request),
    call,
  ].join('\n');
}

/** Returns a program with `@apollo/client` that runs the operation. */
export function apolloOf(request: ClientRequest, options: CodeOptions): string {
  const { url, kind, variables } = request;
  const args = `{ ${kind === 'mutation' ? 'mutation' : 'query'}: document${variables === undefined ? '' : ', variables'} }`;
  if (kind === 'subscription') {
    const socket = url.replace(/^http/, 'ws');
    return [
      "import { ApolloClient, gql, InMemoryCache } from '@apollo/client';",
      "import { GraphQLWsLink } from '@apollo/client/link/subscriptions';",
      "import { createClient } from 'graphql-ws';",
      '',
      'const client = new ApolloClient({',
      '  link: new GraphQLWsLink(createClient({',
      `    url: ${JSON.stringify(socket)},`,
      `    connectionParams: {${headersOf(options, '      ')}},`,
      '  })),',
      '  cache: new InMemoryCache(),',
      '});',
      '',
      ...documentLines(request),
      `client.subscribe(${args}).subscribe(({ data }) => console.log(data));`,
    ].join('\n');
  }
  const call = kind === 'mutation' ? 'mutate' : 'query';
  return [
    "import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';",
    '',
    'const client = new ApolloClient({',
    `  link: new HttpLink({ uri: ${JSON.stringify(url)},${headersOf(options, '    ')}}),`,
    '  cache: new InMemoryCache(),',
    '});',
    '',
    ...documentLines(request),
    `const { data } = await client.${call}(${args});`,
  ].join('\n');
}

/** Quotes a document as a template literal. */
export function templateLiteral(text: string): string {
  return `\`\n${indented(text.trim().replace(/[\\`]|\$\{/g, '\\$&'))}\n\``;
}

function documentLines({ query, variables }: ClientRequest): readonly string[] {
  return [
    `const document = gql${templateLiteral(query)};`,
    ...(variables === undefined ? [] : [`const variables = ${printJson(variables, 2)};`]),
    '',
  ];
}

/** Key `headers` with its value, on lines of their own; a space without headers. */
function headersOf(options: CodeOptions, margin: string): string {
  // Clients set the content type themselves.
  const entries = headerEntries(options).filter(({ name }) => name.toLowerCase() !== 'content-type');
  if (entries.length === 0) return ' ';
  const lines = entries.map(({ name, value }) => `${margin}  ${JSON.stringify(name)}: ${value},\n`);
  return `\n${margin}headers: {\n${lines.join('')}${margin}},\n${margin.slice(2)}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

import { describe, expect, it } from 'vitest';
import { GRAPHQL_RESPONSE_TYPE, graphqlAnswerType, isJsonContent } from './media-type.ts';
import { JSON_TYPE } from './reply.ts';

describe('the content of a request', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json;foo=bar'])(
    '%s is JSON',
    (header) => expect(isJsonContent(header)).toBe(true),
  );
  it.each([undefined, '', 'text/plain', 'application/jsonp', 'application/json; charset=utf-16', 'application/x-www-form-urlencoded'])(
    '%s is not',
    (header) => expect(isJsonContent(header)).toBe(false),
  );
});

describe('the type of a response', () => {
  const GRAPHQL = 'application/graphql-response+json';
  it.each([
    [undefined, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/html', JSON_TYPE],
    ['application/json', JSON_TYPE],
    [GRAPHQL, GRAPHQL_RESPONSE_TYPE],
    [`${GRAPHQL}; charset=utf-8, application/json; charset=utf-8`, GRAPHQL_RESPONSE_TYPE],
    [`application/json, ${GRAPHQL}`, JSON_TYPE],
    [`application/json;q=0.9, ${GRAPHQL}`, GRAPHQL_RESPONSE_TYPE],
    [`${GRAPHQL};q=0.5, application/json`, JSON_TYPE],
    [`${GRAPHQL};q=0`, JSON_TYPE],
    [`${GRAPHQL.toUpperCase()}, */*;q=0.1`, GRAPHQL_RESPONSE_TYPE],
  ])('for %s', (accept, type) => expect(graphqlAnswerType(accept)).toBe(type));
});

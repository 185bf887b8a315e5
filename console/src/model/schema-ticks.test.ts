import { buildSchema, introspectionFromSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Json } from './json.ts';
import { parseSchemaDocument, printSchemaDocument, type SchemaDocument } from './schema-document.ts';
import { inputState, isTicked, type RemoteTypes, remoteTypes, shownTypes, tickedAll, withInput } from './schema-ticks.ts';

const remoteOf = (sdl: string) => remoteTypes({ data: introspectionFromSchema(buildSchema(sdl)) as unknown as Json });
const REMOTE = remoteOf(`
  type Query { users(where: UserFilter, first: Int = 10): [User!]! find(id: ID!): Thing me: User size: Int }
  type Mutation { rename(id: ID!, name: String!): User }
  type User implements Node { id: ID! name: String kind: Kind friends(first: Int!): [User!] post: Post born: Date }
  type Post implements Node { id: ID! author: User text: String }
  interface Node { id: ID! }
  union Thing = User | Post
  input UserFilter { name: String tenant: Int inner: UserFilter }
  enum Kind { A B }
  scalar Date
`);
const ticked = (document: SchemaDocument, remote: RemoteTypes, type: string, member: string, on: boolean): SchemaDocument =>
  tickedAll(document, remote, type, [member], on);
const print = (document: SchemaDocument): string => printSchemaDocument(document).replace(/\s+/g, ' ').trim();
const named = (document: SchemaDocument): string[] => document.map(({ name }) => name).sort();

describe('SDL as a tree', () => {
  it('is printed as it was read, uninterpreted parts included', () => {
    const text = `schema {
  query: Root
}

"""What there is."""
type Root implements A & B {
  "A field." a(b: Int = 1 @preset(value: {c: [1, "x-svc-d"]}), d: [E!]! = []): String! @deprecated(reason: "a (b")
}

union U = A | B

enum E {
  "One."
  ONE @deprecated
  TWO
}

input I {
  a: Int = 1 @preset(value: 2)
}

scalar S @specifiedBy(url: "http://s")
`;
    const once = printSchemaDocument(parseSchemaDocument(text));
    expect(once.replace(/\s+/g, ' ')).toBe(text.replace(/\s+/g, ' '));
    expect(printSchemaDocument(parseSchemaDocument(once))).toBe(once);
  });

  it.each(['type A {', 'type A { a }', 'extend type A { a: Int }', 'type A { a: Int = }', 'query { a }'])('rejects %s', (text) => {
    expect(() => parseSchemaDocument(text)).toThrow(/^line 1: /);
  });
});

describe('selected fields of a remote schema', () => {
  it('declare the types that a field needs, without recursion', () => {
    const document = ticked([], REMOTE, 'Query', 'users', true);
    expect(print(document)).toBe(
      'type Query { users(where: UserFilter, first: Int = 10): [User!]! } ' +
        'type User { id: ID! name: String kind: Kind born: Date } ' +
        'input UserFilter { name: String tenant: Int inner: UserFilter } enum Kind { A B } scalar Date',
    );
    // It is a schema.
    buildSchema(printSchemaDocument(document));
    expect(shownTypes(document, REMOTE).map(({ name }) => name)).toEqual(['Query', 'Mutation', 'User', 'UserFilter', 'Kind', 'Date']);
  });

  it('declare all members of a union, and keep interfaces that are left', () => {
    const document = ticked([], REMOTE, 'Query', 'find', true);
    expect(named(document)).toEqual(['Date', 'Kind', 'Post', 'Query', 'Thing', 'User']);
    buildSchema(printSchemaDocument(document));
  });

  it('remove unreachable types, and fields of empty types', () => {
    const both = ticked(ticked([], REMOTE, 'Query', 'users', true), REMOTE, 'Query', 'size', true);
    const fewer = ticked(both, REMOTE, 'User', 'kind', false);
    expect(named(fewer)).toEqual(['Date', 'Query', 'User', 'UserFilter']);
    const none = tickedAll(both, REMOTE, 'User', ['id', 'name', 'kind', 'born'], false);
    expect(print(none)).toBe('type Query { size: Int }');
    expect(ticked(none, REMOTE, 'Query', 'size', false)).toEqual([]);
  });

  it('keep directives of a field and the order of the server', () => {
    const parsed = parseSchemaDocument('type Query { size: Int @deprecated(reason: "old") }');
    const document = ticked(parsed, REMOTE, 'Query', 'me', true);
    expect(print(document)).toContain('type Query { me: User size: Int @deprecated(reason: "old") }');
    expect(isTicked(document, 'Query', 'me')).toBe(true);
  });

  it('write the schema block for custom root names', () => {
    const odd = remoteOf('schema { query: Root } type Root { a: Int }');
    expect(print(ticked([], odd, 'Root', 'a', true))).toBe('schema { query: Root } type Root { a: Int }');
  });
});

describe('arguments and input fields of a role', () => {
  const users = ticked([], REMOTE, 'Query', 'users', true);

  it.each([
    ['x-svc-user-id', '"x-svc-user-id"'],
    ['12', '12'],
    ['{a: "b"}', '{a: "b"}'],
    ['"12"', '"12"'],
    ['a "quoted" text', '"a \\"quoted\\" text"'],
  ])('can be preset to %s', (preset, printed) => {
    const place = { type: 'Query', member: 'users', argument: 'first' };
    const document = withInput(users, REMOTE, place, { isThere: true, preset });
    expect(print(document)).toContain(`first: Int = 10 @preset(value: ${printed})`);
    expect(inputState(parseSchemaDocument(printSchemaDocument(document)), 'Query', 'users', 'first')).toEqual({ isThere: true, preset });
    expect(withInput(document, REMOTE, place, { isThere: true, preset: undefined })).toEqual(users);
  });

  it('are removed with the types that only they used', () => {
    const place = { type: 'Query', member: 'users', argument: 'where' };
    const without = withInput(users, REMOTE, place, { isThere: false, preset: undefined });
    expect(named(without)).not.toContain('UserFilter');
    expect(withInput(without, REMOTE, place, { isThere: true, preset: undefined }).find(({ name }) => name === 'Query')).toEqual(
      users.find(({ name }) => name === 'Query'),
    );
  });

  it('can be preset in input objects', () => {
    const document = withInput(users, REMOTE, { type: 'UserFilter', member: 'tenant' }, { isThere: true, preset: 'x-svc-tenant' });
    expect(print(document)).toContain('tenant: Int @preset(value: "x-svc-tenant")');
    expect(inputState(document, 'UserFilter', 'tenant')).toEqual({ isThere: true, preset: 'x-svc-tenant' });
  });
});

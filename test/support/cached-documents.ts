/** Documents with `@cached`, and clients that get different answers to them, for tests of HTTP caching. */
import { createHash } from 'node:crypto';
import { startTestService, type TestService } from './service.ts';
import { token } from './tokens.ts';

export const SECRET = 'open sesame';
const KEY = 'a key for tokens, of at least 32 characters';
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const DOCUMENTS = {
  notes: 'query Notes @cached(ttl: 300) { note(order_by: {id: asc}) { id text } }',
  note: 'query Note($id: Int!) @cached(ttl: 300) { note(where: {id: {_eq: $id}}) { id text } }',
  drafts: 'query Drafts @cached(ttl: 300) { draft(order_by: {id: asc}) { id } }',
  uncached: 'query Uncached { note { id } }',
  again: 'query Again @cached(refresh: true) { note { id } }',
  longer: 'query @cached(ttl: 300) { note(limit: 1) { id } }',
  shorter: 'query @cached(ttl: 100) { note(limit: 1) { id } }',
  never: 'query Never @cached(ttl: 0) { note { id } }',
  failing: 'query Failing($id: Int!) @cached { note(where: {id: {_eq: $id}}) { id } }',
  introspecting: 'query @cached { __schema { queryType { name } } }',
  clock: 'query Clock @cached(ttl: 2) { clock { at } }',
} as const;
export type Name = keyof typeof DOCUMENTS;

const tokenOf = (role: string, user: string): string =>
  token('HS256', KEY, {
    claims: { 'urn:svc:jwt:claims': { 'x-svc-allowed-roles': ['user', 'editor'], 'x-svc-default-role': role, 'x-svc-user-id': user } },
  });

/** Clients by what their requests say about them. */
export const CLIENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anonymous: {},
  'anonymous with a role': { 'x-svc-role': 'editor' },
  'anonymous with a variable': { 'x-svc-user-id': 'a' },
  'another anonymous with a variable': { 'x-svc-user-id': 'b' },
  'anonymous with a cookie of another service': { cookie: 'theme=dark' },
  'user a': { authorization: `Bearer ${tokenOf('user', 'a')}` },
  'user b': { authorization: `Bearer ${tokenOf('user', 'b')}` },
  'user a as editor': { authorization: `Bearer ${tokenOf('user', 'a')}`, 'x-svc-role': 'editor' },
  'user a by cookie': { cookie: `session=${tokenOf('user', 'a')}` },
  'user b by cookie': { cookie: `session=${tokenOf('user', 'b')}` },
  'an administrator': { 'x-svc-admin-secret': SECRET },
  'a trusted user': { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'user', 'x-svc-user-id': 'a' },
  'another trusted user': { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'user', 'x-svc-user-id': 'b' },
};

/** A service with these documents, for roles whose rows depend on the user, and for anonymous clients. */
export async function startCachedDocuments(): Promise<TestService> {
  const jwt = (header: object): object => ({ type: 'HS256', key: KEY, header });
  const service = await startTestService({
    ADMIN_SECRET: SECRET,
    UNAUTHORIZED_ROLE: 'anonymous',
    JWT_SECRETS: JSON.stringify([jwt({ type: 'Authorization' }), jwt({ type: 'Cookie', name: 'session' })]),
    CORS_DOMAIN: 'https://app.example',
  });
  await service.sql(`
    create table note (id int primary key, owner text, text text, open boolean);
    insert into note values (1, 'a', 'of a', true), (2, 'b', 'of b', false), (3, 'b', 'open of b', true);
    create table draft (id int primary key, owner text);
    insert into draft values (1, 'a'), (2, 'b');
    create table clock (at float8); insert into clock values (0)`);
  for (const table of ['note', 'draft', 'clock']) await service.metadata('pg_track_table', { table });
  const own = { owner: { _eq: 'X-Svc-User-Id' } };
  const allow = (table: string, role: string, filter: object): Promise<unknown> =>
    service.metadata('pg_create_select_permission', { table, role, permission: { columns: '*', filter: filter as never } });
  await allow('note', 'anonymous', { open: { _eq: true } });
  await allow('clock', 'anonymous', {});
  for (const role of ['anonymous', 'user']) await allow('draft', role, own);
  await allow('note', 'user', own);
  for (const table of ['note', 'draft']) await allow(table, 'editor', {});
  await service.metadata('create_query_collection', {
    name: 'web',
    definition: { queries: Object.entries(DOCUMENTS).map(([name, query]) => ({ name, query })) },
  });
  return service;
}

export function urlOf(name: Name, id?: number): string {
  return `/v1/graphql?documentId=sha256:${sha256(DOCUMENTS[name])}${id === undefined ? '' : `&variables=${encodeURIComponent(`{"id":${id}}`)}`}`;
}

const REQUESTS = [
  ...(['notes', 'drafts', 'uncached', 'failing'] as const).map((name) => ({ name, id: undefined })),
  ...[1, 2, 3].map((id) => ({ name: 'note' as const, id })),
];

/** A request of one of the clients, and the body that it has to get. */
export interface ExpectedAnswer {
  readonly client: string;
  readonly url: string;
  readonly expected: string;
}

/** Returns all requests of all clients, with the answers of the service to the same documents by POST and without any cache. */
export async function expectedAnswers(service: TestService): Promise<readonly ExpectedAnswer[]> {
  const found: ExpectedAnswer[] = [];
  for (const [client, headers] of Object.entries(CLIENTS)) {
    for (const { name, id } of REQUESTS) {
      const query = DOCUMENTS[name].replace(/ @cached\(.*?\)| @cached/, '');
      const body = JSON.stringify({ query, ...(id === undefined ? {} : { variables: { id } }) });
      const { text } = await service.send('/v1/graphql', { method: 'POST', headers: { ...headers }, body });
      found.push({ client, url: urlOf(name, id), expected: text });
    }
  }
  return found;
}

/** Returns a source of pseudo-random numbers below `bound`, the same for a seed. */
export function randoms(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

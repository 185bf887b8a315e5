/** `push_documents`, `prune_documents` and `get_documents`: what they refuse, because clients could not run it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const IDS = '{ author { id } }';
const NAMES = '{ author { name } }';

let open: TestService;
let listed: TestService;

async function serviceWith(options: Record<string, string>): Promise<TestService> {
  const service = await startTestService(options);
  await service.sql("create table author (id int primary key, name text); insert into author values (1, 'Ann')");
  await service.metadata('pg_track_table', { table: 'author' });
  for (const role of ['user', 'editor'])
    await service.metadata('pg_create_select_permission', { table: 'author', role, permission: { columns: '*', filter: {} } });
  return service;
}

beforeAll(async () => {
  [open, listed] = await Promise.all([serviceWith({}), serviceWith({ ENABLE_ALLOWLIST: 'true' })]);
});
afterAll(async () => {
  await Promise.all([open.stop(), listed.stop()]);
});

const push = (service: TestService, collection: string, documents: Record<string, string>, more: JsonObject = {}): Promise<Json> =>
  service.metadata('push_documents', {
    collection,
    documents: Object.entries(documents).map(([id, query]) => ({ id, query })),
    ...more,
  });
const roles = (...names: string[]): JsonObject => ({ scope: { global: false, roles: names } });
const run = async (service: TestService, documentId: string, role: string): Promise<Json> =>
  (await service.send('/v1/graphql', { method: 'POST', headers: { 'x-svc-role': role }, body: JSON.stringify({ documentId }) })).json;

describe('a pushed id', () => {
  it('is refused if another collection of the same roles has another text under it', async () => {
    const conflict = /has another text in the query collection \\?"first\\?"/;
    await push(open, 'first', { same: IDS });
    await expect(push(open, 'second', { same: NAMES })).rejects.toThrow(conflict);
    await push(open, 'second', { same: IDS });
    expect(await run(open, 'same', 'user')).toEqual({ data: { author: [{ id: 1 }] } });

    await push(listed, 'first', { same: IDS }, roles('user'));
    await expect(push(listed, 'second', { same: NAMES }, roles('editor', 'user'))).rejects.toThrow(conflict);
    await expect(push(listed, 'second', { same: NAMES }, { scope: { global: true } })).rejects.toThrow(conflict);
    await push(listed, 'second', { same: NAMES }, roles('editor'));
    await push(listed, 'unlisted', { same: NAMES });
    expect(await run(listed, 'same', 'user')).toEqual({ data: { author: [{ id: 1 }] } });
    expect(await run(listed, 'same', 'editor')).toEqual({ data: { author: [{ name: 'Ann' }] } });
  });

  it('is refused if requests cannot send it', async () => {
    for (const id of ['two words', 'md5:abc', 'sha256:abc', 'a/b', 'a'.repeat(257)])
      await expect(push(open, 'ids', { [id]: IDS })).rejects.toThrow('invalid-params');
    for (const id of ['A.b_c~d-1', 'x-shop:1:2', 'a'.repeat(256)]) {
      await push(open, 'ids', { [id]: IDS });
      expect(await run(open, id, 'user')).toEqual({ data: { author: [{ id: 1 }] } });
    }
  });
});

describe('a pushed scope', () => {
  it('has to be that of the allow-list', async () => {
    await push(listed, 'scoped', { a: IDS }, roles('user', 'editor'));
    await push(listed, 'scoped', { b: IDS }, roles('editor', 'user'));
    await push(listed, 'scoped', { c: IDS });
    await push(listed, 'global', { d: IDS }, { scope: { global: true } });
    await push(listed, 'global', { e: IDS }, { scope: { global: true } });
    const other = /in the allow-list with another scope/;
    await expect(push(listed, 'scoped', { f: IDS }, roles('user'))).rejects.toThrow(other);
    await expect(push(listed, 'scoped', { f: IDS }, { scope: { global: true } })).rejects.toThrow(other);
    await expect(push(listed, 'global', { f: IDS }, roles('user'))).rejects.toThrow(other);
  });
});

describe('pruning', () => {
  it('removes only those of a list, if there is one', async () => {
    await push(open, 'pruned', { kept: IDS, old: IDS, late: IDS });
    expect(await open.metadata('prune_documents', { collection: 'pruned', keep: ['kept'], remove: ['old', 'kept', 'absent'] })).toEqual({
      removed: ['old'],
      kept: 2,
    });
  });
});

it('many documents are listed without blocking other requests', async () => {
  const fields = Array.from({ length: 150 }, (_, n) => `a${n}: author { id name }`).join(' ');
  const documents = Array.from({ length: 1500 }, (_, n) => ({ name: `d${n}`, query: `query N${n} { ${fields} }` }));
  await open.metadata('create_query_collection', { name: 'many', definition: { queries: documents } });
  let [longest, last] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  const answer = (await open.metadata('get_documents', { collection: 'many' })) as { documents: readonly JsonObject[] };
  clearInterval(timer);
  expect(answer.documents[7]).toMatchObject({ id: 'd7', operations: ['N7'] });
  expect(longest).toBeLessThan(400);
});

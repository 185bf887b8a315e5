import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Caller, type DataOperationsService, startDataOperationsService, USER } from './data-operations-service.ts';

let dataApi: DataOperationsService;
beforeAll(async () => {
  dataApi = await startDataOperationsService();
});
afterAll(() => dataApi.service.stop());

const run: DataOperationsService['run'] = (...operation) => dataApi.run(...operation);

describe('writes of the data operations', () => {
  beforeEach(async () => {
    await dataApi.reset();
  });

  const rows = (table: string, ...columns: readonly string[]): Promise<Json> => run('select', { table, columns, order_by: 'id' });

  it('insert rows with the presets of the role', async () => {
    expect(
      await run('insert', {
        table: 'article',
        objects: [{ title: 'E', author_id: null, data: [1], tags: '{a}' }, { title: 'F' }],
        returning: ['*'],
      }),
    ).toEqual({
      affected_rows: 2,
      returning: [
        { id: 5, title: 'E', author_id: null, published: false, tags: ['a'], data: [1], raw: null },
        { id: 6, title: 'F', author_id: null, published: false, tags: null, data: null, raw: null },
      ],
    });
    expect(
      await run('insert', { table: 'article', objects: [{ title: 'G' }], returning: ['title', 'author_id'] }, { ...USER, user: '2' }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ title: 'G', author_id: 2 }],
    });
    expect(await run('insert', { table: 'audit', objects: [{ entry: 'x' }, {}] }, USER)).toEqual({ affected_rows: 2 });
    const trusted: Caller = { ...USER, headers: { 'x-svc-use-backend-only-permissions': 'true' } };
    expect(await run('insert', { table: 'author', objects: [{ name: 'Dan' }] }, trusted)).toEqual({ affected_rows: 1 });
  });

  it('insert on conflict by constraint, by columns, or without a target', async () => {
    const upsert = (on_conflict: Json, object: JsonObject = { id: 1, name: 'Ann', age: 31 }) =>
      run('insert', { table: 'author', objects: [object], on_conflict, returning: ['id', 'age', 'secret'] });
    expect(await upsert({ action: 'ignore' })).toEqual({ affected_rows: 0, returning: [] });
    expect(await upsert({ action: 'ignore', constraint: 'author_pkey' }, { id: 1, name: 'Zed' })).toEqual({
      affected_rows: 0,
      returning: [],
    });
    expect(await upsert({ action: 'update', constraint: 'author_name_key' })).toEqual({
      affected_rows: 1,
      returning: [{ id: 1, age: 31, secret: 's1' }],
    });
    expect(await upsert({ action: 'update', constraint_on: 'id' }, { id: 1, name: 'Ann', age: 32 })).toEqual({
      affected_rows: 1,
      returning: [{ id: 1, age: 32, secret: 's1' }],
    });
    // A unique index is no constraint, but rows conflict with it all the same.
    const article = { title: 'A', author_id: 1, published: false };
    expect(
      await run('insert', {
        table: 'article',
        objects: [article],
        on_conflict: { action: 'update', constraint_on: ['author_id', 'title'] },
        returning: ['id'],
      }),
    ).toEqual({ affected_rows: 1, returning: [{ id: 1 }] });
    // The role updates its own rows only, and its presets are written.
    const mine = (title: string) =>
      run(
        'insert',
        {
          table: 'article',
          objects: [{ title, published: true }],
          on_conflict: { action: 'update', constraint_on: ['author_id', 'title'] },
          returning: ['id', 'tags'],
        },
        USER,
      );
    expect(await mine('B')).toEqual({ affected_rows: 1, returning: [{ id: 2, tags: ['changed'] }] });
  });

  it('update with each operator, and with the presets of the role', async () => {
    const update = (args: JsonObject, caller?: Caller) => run('update', { table: 'article', ...args }, caller);
    expect(await update({ where: { id: 4 }, $set: { data: { a: 1 }, tags: null }, returning: ['data', 'tags'] })).toEqual({
      affected_rows: 1,
      returning: [{ data: { a: 1 }, tags: null }],
    });
    expect(await update({ where: { author: { name: 'Bob' } }, values: { title: 'changed' }, returning: ['title'] })).toEqual({
      affected_rows: 1,
      returning: [{ title: 'changed' }],
    });
    expect(await run('update', { table: 'author', where: {}, $inc: { age: 1 }, returning: ['age'] })).toEqual({
      affected_rows: 3,
      returning: [{ age: 31 }, { age: null }, { age: 11 }],
    });
    expect(
      await run('update', { table: 'author', where: { id: 1 }, $mul: { age: 2 }, $set: { secret: 'new' }, returning: ['age', 'twice'] }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ age: 62, twice: 124 }],
    });
    expect(
      await run('update', { table: 'article', where: { id: 1 }, $default: ['published', 'tags'], returning: ['published', 'tags'] }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ published: false, tags: null }],
    });
    expect(await update({ where: {}, $set: { published: true }, returning: ['id', 'tags'] }, { ...USER, user: '2' })).toEqual({
      affected_rows: 1,
      returning: [{ id: 3, tags: ['changed'] }],
    });
    // Presets alone are written too.
    expect(await update({ where: { id: 4 } }, { ...USER, user: '3' })).toEqual({ affected_rows: 1 });
  });

  it('delete under the filter of the role', async () => {
    expect(await run('delete', { table: 'article', where: { id: { $gte: 2 } }, returning: ['title'] }, USER)).toEqual({
      affected_rows: 1,
      returning: [{ title: 'B' }],
    });
    expect(await rows('article', 'title')).toEqual([{ title: 'A' }, { title: 'C' }, { title: 'D' }]);
    await run('insert', { table: 'audit', objects: [{ entry: 'mine' }, { entry: 'yours' }] });
    // Without a select permission no condition is possible.
    expect(await run('delete', { table: 'audit', where: {} }, USER)).toEqual({ affected_rows: 1 });
    expect(await rows('audit', 'entry')).toEqual([{ entry: 'yours' }]);
  });

  it('pass the session to triggers', async () => {
    await dataApi.service.sql(
      `create function note_user() returns trigger language plpgsql as $$ begin new.entry := current_setting('svc.user')::json->>'x-svc-user-id'; return new; end $$;
       create trigger note_user before insert on audit for each row execute function note_user()`,
      { check_metadata_consistency: false },
    );
    await run('insert', { table: 'audit', objects: [{}] }, { ...USER, user: '42' });
    expect(await rows('audit', 'entry')).toEqual([{ entry: '42' }]);
    await dataApi.service.sql('drop trigger note_user on audit', { check_metadata_consistency: false });
  });
});

/** Rows that are read column by column (see uniform-rows.test.ts) below parents, with webhooks, and in repeated requests. */
import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import {
  but,
  empty,
  hook,
  listText,
  useUniformRows,
  post,
  row,
  type Row,
  rows,
  rowText,
  service,
  stored,
} from '../support/uniform-rows.ts';

useUniformRows();

describe('uniform rows below a parent', () => {
  const many = (data: string): string => `{"parents":[{"name":"Ann","children":{"data":${data}}}]}`;
  const QUERY = `mutation ($parents: [parent_insert_input!]!) { insert_parent(objects: $parents) {
    affected_rows returning { id name children(order_by: {id: asc}) { id parent_id n note tag lot } pets(order_by: {id: asc}) { id parent_id n } } } }`;
  const sixty = rows(60, (n) => ({ n, ...(n % 2 === 0 ? { note: `"${n}` } : {}) }));
  const at = '$.selectionSet.insert_parent.args.objects[0].children.data';

  it('are attached to it', async () => {
    const { data } = await post(QUERY, many(listText(sixty)));
    const returned = {
      id: 1,
      name: 'Ann',
      pets: [],
      children: Array.from({ length: 60 }, (_, n) => ({
        id: n + 1,
        parent_id: 1,
        n,
        note: n % 2 === 0 ? `"${n}` : null,
        tag: 'none',
        lot: 7,
      })),
    };
    expect(data).toEqual({ insert_parent: { affected_rows: 61, returning: [returned] } });
  });

  it('may belong to several tables and parents', async () => {
    const pets = rows(55, (n) => ({ n: -n }));
    const parent = (name: string): string => `{"name":"${name}","children":{"data":${listText(sixty)}},"pets":{"data":${listText(pets)}}}`;
    const variables = `{"parents":[${parent('Ann')},{"name":"Bob"},${parent('Cid')}]}`;
    for (let time = 0; time < 2; time++) {
      await empty();
      const { data } = await post(QUERY, variables);
      expect(data).toMatchObject({
        insert_parent: {
          affected_rows: 3 + 2 * 115,
          returning: [
            { name: 'Ann', children: { length: 60, 59: { parent_id: 1, n: 59 } }, pets: { length: 55, 54: { parent_id: 1, n: -54 } } },
            { name: 'Bob', children: [], pets: [] },
            {
              name: 'Cid',
              children: { length: 60, 0: { parent_id: 3, n: 0, note: '"0' } },
              pets: { length: 55, 54: { parent_id: 3, n: -54 } },
            },
          ],
        },
      });
    }
  });

  it('may stand beside a related row', async () => {
    const query = `mutation ($rows: [child_insert_input!]!, $pets: [pet_insert_input!]!) {
      insert_child(objects: $rows) { affected_rows returning { id parent_id n } }
      insert_parent(objects: {name: "Bob", pets: {data: $pets}}) { affected_rows returning { id pets { n } } } }`;
    const parent: JsonObject = { parent: { data: { name: 'Ann' } } };
    const { data } = await post(query, `{"rows":${listText(but(sixty, 57, parent))},"pets":${listText(rows(50, (n) => ({ n })))}}`);
    expect(data).toMatchObject({
      insert_child: {
        affected_rows: 61,
        returning: { length: 60, 56: { id: 57, parent_id: null }, 57: { id: 58, parent_id: 1, n: 57 }, 59: { id: 60 } },
      },
      insert_parent: { affected_rows: 51, returning: [{ id: 2, pets: { length: 50 } }] },
    });
    const nested = `{"parents":[{"name":"Ann","pets":{"data":[{"n":1}]},"children":{"data":${listText(sixty)}}}]}`;
    expect(await post(QUERY, nested)).toMatchObject({ data: { insert_parent: { affected_rows: 62 } } });
  });

  it.each<[string, readonly Row[], string, string]>([
    [
      'repeat a column that it determines',
      rows(60, (n) => ({ n, parent_id: 5 })),
      `${at}[0]`,
      'cannot insert "parent_id" columns as their values are already being determined by parent insert',
    ],
    [
      'say it in one row',
      but(sixty, 57, { parent_id: null }),
      `${at}[57]`,
      'cannot insert "parent_id" columns as their values are already being determined by parent insert',
    ],
    ['have a wrong value', but(sixty, 57, { n: true }), `${at}[57].n`, 'Integer expected for input type: integer'],
    ['have null in a non-null column', but(sixty, 57, { n: null }), `${at}[57].n`, "unexpected null value for type 'Int'"],
  ])('%s', async (_what, list, path, message) => {
    const few = path.endsWith('[0]') ? list.slice(0, 40) : list.slice(20);
    for (const [given, place] of [
      [list, path],
      [few, path.replace('[57]', '[37]')],
    ] as const) {
      const { errors } = await post(QUERY, many(listText(given)));
      expect(errors).toMatchObject([{ message, extensions: { path: place } }]);
    }
    expect(await stored('parent')).toEqual([]);
  });

  it('are rejected with it', async () => {
    const options = { role: 'user', session: { 'user-id': '7' } };
    const query = 'mutation ($parents: [parent_insert_input!]!) { insert_parent(objects: $parents) { affected_rows } }';
    expect(await post(query, many(listText(sixty)), options)).toEqual({ data: { insert_parent: { affected_rows: 61 } } });
    expect((await stored('child')).every((text) => text.includes('"parent_id":1,') && text.includes('"tag":"fixed","owner":7'))).toBe(true);
    await empty();
    const { errors } = await post(query, many(listText(but(sixty, 57, { n: 1000 }))), options);
    expect(errors).toMatchObject([{ extensions: { code: 'permission-error' } }]);
    expect([await stored('parent'), await stored('child')]).toEqual([[], []]);
  });
});

describe('a webhook for uniform rows', () => {
  const asked = (): readonly (readonly [string, string])[] =>
    hook.requests.map(({ path, body }) => [path, printJson((parseJson(body) as unknown as { data: { input: Json } }).data.input)]);
  const odd = rows(60, (n) => ({ n, ...(n % 2 === 0 ? { note: null } : {}) })).map((given): Row => [...given].reverse());

  it('receives rows as they were sent', async () => {
    const query = 'mutation ($rows: [child_insert_input!]!) { insert_child(objects: $rows) { affected_rows } }';
    for (const sent of [odd, [...odd, ...odd]]) {
      hook.requests.length = 0;
      expect(await post(query, `{"rows":${listText(sent)}}`, { role: 'checked' })).toEqual({
        data: { insert_child: { affected_rows: sent.length } },
      });
      expect(asked()).toEqual([['/child', listText(sent)]]);
    }
    hook.answer = () => ({ status: 400, body: { message: 'no' } });
    await empty();
    const { errors } = await post(query, `{"rows":${listText(odd)}}`, { role: 'checked' });
    expect(errors).toMatchObject([{ message: 'no', extensions: { code: 'validation-failed' } }]);
    expect(await stored('child')).toEqual([]);
  });

  it('receives the rows of all parents', async () => {
    const query = 'mutation ($parents: [parent_insert_input!]!) { insert_parent(objects: $parents) { affected_rows } }';
    const few = rows(2, (n) => ({ n: 100 + n }));
    const variables = `{"parents":[{"name":"Ann","children":{"data":${listText(odd)}}},{"name":"Bob","children":{"data":${listText(few)}}}]}`;
    expect(await post(query, variables, { role: 'checked' })).toEqual({ data: { insert_parent: { affected_rows: 64 } } });
    expect(asked()).toEqual([['/child', listText([...odd, ...few])]]);
  });

  it('receives the conflict clause for existing rows', async () => {
    const query = `mutation ($rows: [item_insert_input!]!) {
      insert_item(objects: $rows, on_conflict: {constraint: item_pkey, update_columns: [n]}) { affected_rows } }`;
    const items = rows(60, (n) => ({ sku: `s${n}`, n, note: 'x' }));
    for (let time = 0; time < 2; time++) {
      hook.requests.length = 0;
      expect(await post(query, `{"rows":${listText(items)}}`, { role: 'checked' })).toEqual({
        data: { insert_item: { affected_rows: 60 } },
      });
      expect(asked()).toEqual([
        ['/item/insert', listText(items)],
        ['/item/update', listText(rows(60, (n) => ({ _set: { n } })))],
      ]);
    }
  });
});

describe('a repeated operation with uniform rows', () => {
  const QUERY = `mutation ($rows: [child_insert_input!]!) {
    insert_child(objects: $rows) { affected_rows returning { id n note tag owner } } }`;
  const returned = async (list: readonly Row[]): Promise<readonly JsonObject[]> => {
    const { data } = await post(QUERY, `{"rows":${listText(list)}}`);
    const { affected_rows: affected, returning } = (data as { insert_child: { affected_rows: number; returning: JsonObject[] } })
      .insert_child;
    expect([affected, returning.length]).toEqual([list.length, list.length]);
    expect(returning.map(({ n }) => n)).toEqual(list.map((_, n) => n));
    return returning;
  };

  it('accepts any number of rows, in any order, with other keys', async () => {
    const noted = (n: number): JsonObject => ({ n, note: `note ${n}` });
    for (const count of [60, 75, 1, 49, 50, 51, 0, 2500, 60]) {
      const found = await returned(rows(count, noted));
      expect(found.map(({ note }) => note)).toEqual(Array.from({ length: count }, (_, n) => `note ${n}`));
    }
    expect((await returned(rows(60, (n) => ({ n })))).every(({ note, tag }) => note === null && tag === 'none')).toBe(true);
    expect((await returned(rows(60, (n) => ({ ...noted(n), owner: n })))).at(-1)).toMatchObject({ note: 'note 59', owner: 59 });
    expect((await returned(rows(60, (n) => (n === 30 ? { owner: 1, ...noted(n) } : noted(n))))).at(30)).toMatchObject({
      note: 'note 30',
      owner: 1,
    });
    expect((await returned(rows(60, (n) => ({ ...noted(n), tag: `t${n}` })))).at(-1)).toMatchObject({ tag: 't59' });
    expect((await returned(rows(60, (n) => (n === 30 ? { ...noted(n), tag: 't' } : noted(n))))).map(({ tag }) => tag)).toEqual(
      Array.from({ length: 60 }, (_, n) => (n === 30 ? 't' : 'none')),
    );
    expect((await returned(rows(60, noted))).at(-1)).toMatchObject({ note: 'note 59', tag: 'none', owner: null });
    expect(await post(QUERY, `{"rows":${rowText(row({ n: 0, note: 'alone' }))}}`)).toMatchObject({
      data: { insert_child: { affected_rows: 1 } },
    });
    const { errors } = await post(QUERY, `{"rows":${listText(but(rows(60, noted), 59, { n: 1.5 }))}}`);
    expect(errors).toMatchObject([{ extensions: { path: '$.selectionSet.insert_child.args.objects[59].n' } }]);
  });

  it('stays correct after the column gets a default', async () => {
    const list = rows(60, (n) => ({ n, ...(n === 0 ? { note: 'first' } : {}) }));
    expect((await returned(list)).at(-1)).toMatchObject({ note: null });
    try {
      await service.sql("alter table child alter column note set default 'new'");
      expect((await returned(list)).at(-1)).toMatchObject({ note: 'new' });
    } finally {
      await service.sql('alter table child alter column note drop default');
    }
  });

  it('uses custom names of tables and columns', async () => {
    const configuration: JsonObject = { custom_name: 'kidOf', column_config: { note: { custom_name: 'remark' } } };
    const customization: JsonObject = { naming_convention: 'graphql-default' };
    await service.metadata('pg_set_table_customization', { table: 'child', configuration });
    await service.metadata('pg_update_source', { name: 'default', customization });
    try {
      const query = `mutation ($rows: [kidOfInsertInput!]!) { insertKidOf(objects: $rows) { affectedRows returning { remark parentId } } }`;
      const list = rows(60, (n) => ({ n, parentId: null, ...(n % 2 === 0 ? { remark: `r${n}` } : {}) }));
      expect(await post(query, `{"rows":${listText(list)}}`)).toMatchObject({
        data: { insertKidOf: { affectedRows: 60, returning: { 58: { remark: 'r58' }, 59: { remark: null, parentId: null } } } },
      });
      const { errors } = await post(query, `{"rows":${listText(but(list, 57, { remark: 5 }))}}`);
      expect(errors).toMatchObject([{ extensions: { path: '$.selectionSet.insertKidOf.args.objects[57].remark' } }]);
    } finally {
      await service.metadata('pg_update_source', { name: 'default', customization: {} });
      await service.metadata('pg_set_table_customization', { table: 'child', configuration: {} });
    }
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Caller, type DataOperationsService, startDataOperationsService, USER } from './data-operations-service.ts';

let dataApi: DataOperationsService;
beforeAll(async () => {
  dataApi = await startDataOperationsService();
});
afterAll(() => dataApi.service.stop());

const run: DataOperationsService['run'] = (...operation) => dataApi.run(...operation);
const refused: DataOperationsService['refused'] = (...operation) => dataApi.refused(...operation);

const rows = (table: string, ...columns: readonly string[]): Promise<Json> => run('select', { table, columns, order_by: 'id' });

it.each<[type: string, args: JsonObject, refusal: string, caller?: Caller]>([
  ['insert', { table: 'author', objects: [] }, 'unexpected-payload @ $.args.objects: objects should not be empty'],
  ['insert', { table: 'author' }, 'parse-failed @ $: key "objects" not found'],
  ['insert', { table: 'author', objects: [{ name: 'x' }, { nam: 'y' }] }, 'not-exists @ $.args.objects[1]: no such column exists: "nam"'],
  [
    'insert',
    { table: 'author', objects: [{ name: 'x', twice: 1 }] },
    'not-supported @ $.args.objects[0]: column "twice" is not insertable',
  ],
  ['insert', { table: 'titles', objects: [{ title: 'x' }] }, 'not-supported @ $.args: "titles" is not insertable'],
  [
    'insert',
    { table: 'author', objects: [{ name: 1 }] },
    'parse-failed @ $.args.objects[0].name: parsing Text failed, expected String, but encountered Number',
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: 'New' }, { name: 'Ann' }] },
    'constraint-violation @ $.args.objects[1]: Uniqueness violation. duplicate key value violates unique constraint "author_name_key"',
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: null }] },
    'constraint-violation @ $.args: Not-NULL violation. null value in column "name" of relation "author" violates not-null constraint',
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'update' } },
    "unexpected-payload @ $.args.on_conflict: Expecting 'constraint' or 'constraint_on' when the 'action' is 'update'",
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'ignore', constraint: 'no' } },
    'constraint-error @ $.args: constraint "no" for table "author" does not exist',
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: 'x' }], on_conflict: { action: 'update', constraint_on: ['age'] } },
    'constraint-error @ $.args: there is no unique or exclusion constraint on target column(s)',
  ],
  [
    'insert',
    { table: 'author', objects: [{ name: 'x' }] },
    'permission-denied @ $.args: insert on "author" for role "user" is not allowed. ',
    USER,
  ],
  [
    'insert',
    { table: 'article', objects: [{ title: 'x', tags: [] }] },
    'permission-denied @ $.args.objects[0]: role "user" does not have permission to insert column "tags"',
    USER,
  ],
  [
    'insert',
    { table: 'article', objects: [{ title: 'x', author_id: 2 }] },
    'not-supported @ $.args.objects[0]: column "author_id" is not insertable for role "user"; its value is predefined in permission',
    USER,
  ],
  [
    'insert',
    { table: 'article', objects: [{ title: 'fine' }, { title: 'forbidden' }] },
    'permission-error @ $.args: check constraint of an insert/update permission has failed',
    USER,
  ],
  [
    'insert',
    { table: 'audit', objects: [{ entry: 'x' }], on_conflict: { action: 'update', constraint: 'audit_pkey' } },
    'permission-denied @ $.args.on_conflict: upsert is not allowed for role "user" since update permissions are not defined',
    USER,
  ],
  [
    'insert',
    { table: 'audit', objects: [{}], returning: ['id'] },
    'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ',
    USER,
  ],
  [
    'insert',
    { table: 'article', objects: [{ title: 'x' }] },
    'not-found @ $.args: "x-svc-user-id" header is expected but not found',
    { role: 'user' },
  ],
  ['update', { table: 'author', $set: { name: 'x' } }, 'parse-failed @ $: key "where" not found'],
  ['update', { table: 'author', where: {} }, 'unexpected-payload @ $.args: atleast one of $set, $inc, $mul has to be present'],
  [
    'update',
    { table: 'author', where: {}, $inc: { name: 1 } },
    'unexpected-payload @ $.args["$inc"].name: column "name" is of type "text"; this operator works only on columns of numeric types',
  ],
  [
    'update',
    { table: 'author', where: {}, $inc: { age: 1 }, $set: { age: 2 } },
    "validation-failed @ $.args: Column found in multiple operators: ['age'].",
  ],
  ['update', { table: 'author', where: {}, $set: { twice: 2 } }, 'not-supported @ $.args["$set"].twice: column "twice" is not updatable'],
  [
    'update',
    { table: 'author', where: {}, $set: { age: 2 } },
    'permission-denied @ $.args: update on "author" for role "user" is not allowed. ',
    USER,
  ],
  [
    'update',
    { table: 'article', where: {}, $set: { data: 2 } },
    'permission-denied @ $.args["$set"].data: role "user" does not have permission to update column "data"',
    USER,
  ],
  [
    'update',
    { table: 'article', where: {}, $default: ['tags'] },
    'not-supported @ $.args["$default"][0]: column "tags" is not updatable for role "user"; its value is predefined in permission',
    USER,
  ],
  [
    'update',
    { table: 'article', where: { id: 2 }, $set: { title: 'forbidden' } },
    'permission-error @ $.args: check constraint of an insert/update permission has failed',
    USER,
  ],
  [
    'update',
    { table: 'article', where: { author: { secret: 's1' } }, $set: { title: 'x' } },
    'permission-denied @ $.args.where.author.secret: role "user" does not have permission to select column "secret"',
    USER,
  ],
  ['delete', { table: 'author' }, 'parse-failed @ $: key "where" not found'],
  [
    'delete',
    { table: 'author', where: { id: 1 } },
    'constraint-violation @ $.args: Foreign key violation. update or delete on table "author" violates foreign key constraint "article_author_id_fkey" on table "article"',
  ],
  ['delete', { table: 'author', where: {} }, 'permission-denied @ $.args: delete on "author" for role "user" is not allowed. ', USER],
  [
    'delete',
    { table: 'audit', where: { entry: 'x' } },
    'permission-denied @ $.args.where.entry: role "user" does not have permission to select column "entry"',
    USER,
  ],
])('refuses to %s %j, and writes nothing', async (type, args, refusal, caller) => {
  const before = await Promise.all([rows('author', '*'), rows('article', '*'), rows('audit', '*')]);
  expect(await refused(type, args, caller)).toBe(refusal);
  expect(await Promise.all([rows('author', '*'), rows('article', '*'), rows('audit', '*')])).toEqual(before);
});

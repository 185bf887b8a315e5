/** Cases of `/v1/query` and `/v2/query` that `/v1/metadata` does not have. Paths are those of `/v2/query`. */
import { type Case, type Failure, failure } from './case.ts';
import { UNPREFIXED } from './cases.ts';
import { ofCitus } from './citus.ts';

const byRole = (role: string, each: Failure): Failure => ({ ...each, role });

/** Data operations; the role `editor` of the base may select author ids and nothing else. */
const DATA: Readonly<Record<string, Case>> = {
  select: {
    args: { table: 'color', columns: ['value'], where: { value: { $ne: 'blue' } } },
    fails: [
      failure({ table: 'tag', columns: ['id'] }, 'not-exists', '$.args.table'),
      failure({ table: 'color' }, 'parse-failed', '$.args'),
      failure({ table: 'color', columns: ['value'], limit: -1 }, 'not-supported', '$.args.limit'),
      byRole('editor', failure({ table: 'article', columns: ['id'] }, 'permission-denied', '$.args')),
      byRole('user', failure({ table: 'article', columns: ['id'] }, 'not-found', '$.args')),
    ],
  },
  insert: {
    args: { table: 'color', objects: [{ value: 'blue' }] },
    fails: [
      failure({ table: 'color', objects: [] }, 'unexpected-payload', '$.args.objects'),
      failure({ table: 'color', objects: [{ value: 'red' }] }, 'constraint-violation', '$.args'),
      failure({ table: 'color', objects: [{ nothing: 1 }] }, 'not-exists', '$.args.objects[0]'),
      byRole('editor', failure({ table: 'article', objects: [{ id: 1 }] }, 'permission-denied', '$.args')),
    ],
  },
  update: {
    args: { table: 'color', where: { value: 'red' }, $set: { comment: 'as blood' } },
    fails: [
      failure({ table: 'color', where: {} }, 'unexpected-payload', '$.args'),
      failure({ table: 'color', where: { value: 'red' }, $set: { value: null } }, 'constraint-violation', '$.args'),
      byRole('user', failure({ table: 'article', where: {}, $set: { id: 1 } }, 'permission-denied', '$.args["$set"].id')),
    ],
  },
  delete: {
    args: { table: 'color', where: { value: 'red' } },
    fails: [
      failure({ table: 'color', where: { nothing: 1 } }, 'not-exists', '$.args.where.nothing'),
      failure({ table: 'color' }, 'parse-failed', '$.args'),
      byRole('editor', failure({ table: 'article', where: {} }, 'permission-denied', '$.args')),
    ],
  },
  count: {
    args: { table: 'color', distinct: ['comment'] },
    fails: [
      failure({ table: 'color', distinct: ['nothing'] }, 'permission-denied', '$.args.distinct[0]'),
      failure({ table: 'color', where: { value: { $nothing: 1 } } }, 'unexpected-payload', '$.args.where.value["$nothing"]'),
    ],
  },
};

const RUN_SQL: Case = {
  args: { sql: "insert into color values ('blue', null); select value from color", cascade: false },
  fails: [
    failure({ sql: 'select nothing from color' }, 'postgres-error', '$.args'),
    failure({ sql: 'drop table article cascade' }, 'dependency-error', '$.args'),
    failure({ sql: 'select 1', source: 'nothing' }, 'not-exists', '$.args'),
    failure({ source: 'default' }, 'parse-failed', '$.args'),
    byRole('user', failure({ sql: 'select 1' }, 'access-denied', '$.args')),
  ],
};

const CONCURRENT_BULK: Case = {
  args: [
    { type: 'run_sql', args: { sql: 'select 1', read_only: true } },
    { type: 'count', args: { table: 'color' } },
  ],
  fails: [
    failure([{ type: 'delete', args: { table: 'color', where: {} } }], 'not-supported', '$.args'),
    failure([{ type: 'count', args: { table: 'tag' } }], 'not-exists', '$.args[0].args.table'),
    failure({}, 'parse-failed', '$.args'),
  ],
};

export const SCHEMA_CASES: Readonly<Record<string, Case>> = {
  ...DATA,
  run_sql: RUN_SQL,
  pg_run_sql: RUN_SQL,
  postgres_run_sql: RUN_SQL,
  dbc_run_sql: ofCitus(RUN_SQL),
  concurrent_bulk: CONCURRENT_BULK,
  bulk: {
    args: [
      { type: 'insert', args: { table: 'color', objects: [{ value: 'blue' }] } },
      { type: 'pg_run_sql', args: { sql: 'select 1' } },
    ],
    fails: [
      failure([{ type: 'run_sql', args: { sql: 'select nothing' } }], 'postgres-error', '$.args[0].args'),
      failure([{ type: 'pg_track_table', args: { table: 'tag' } }], 'parse-failed', '$.args[0].type'),
    ],
  },
};

export const QUERY_CASES: Readonly<Record<string, Case>> = {
  ...DATA,
  run_sql: RUN_SQL,
  clear_metadata: UNPREFIXED['clear_metadata'] as Case,
  set_table_custom_fields: {
    args: { table: 'color', custom_root_fields: { select: 'colours' }, custom_column_names: { comment: 'note' } },
    fails: [
      failure({ table: 'tag' }, 'not-exists', '$.args'),
      failure({ table: 'color', custom_root_fields: { select: 'a', insert: 'a' } }, 'parse-failed', '$.args.custom_root_fields'),
    ],
  },
  bulk: {
    args: [
      { type: 'track_table', args: { table: 'tag' } },
      { type: 'track_function', args: { function: 'late_articles' } },
      { type: 'select', args: { table: 'tag', columns: ['id'] } },
    ],
    fails: [
      failure(
        [
          { type: 'track_table', args: { table: 'tag' } },
          { type: 'track_table', args: { table: 'author' } },
        ],
        'already-tracked',
        '$.args[1].args',
      ),
      failure([{ type: 'pg_track_table', args: { table: 'tag' } }], 'parse-failed', '$.args[0].type'),
    ],
  },
};

import { describe, expect, it } from 'vitest';
import { SvcError } from '../../errors/svc-error.ts';
import { DatabaseError } from '../postgresql/driver/database-error.ts';
import { commitError, statementError } from '../postgresql/errors.ts';
import { translateError } from './errors.ts';

/** Returns the translated error for fields of an error message of the wire protocol. */
const seen = async (fields: Readonly<Record<string, string>>): Promise<SvcError> => {
  const failure = new DatabaseError(new Map(Object.entries({ S: 'ERROR', ...fields })));
  const error = statementError(failure, { text: 'select', values: [], prepared: false });
  return (await translateError(error, async (shard) => shard === '102628')) as SvcError;
};
const WORKER = 'while executing command on 10.0.0.2:5432';

describe('errors of a cluster', () => {
  it('replaces names of shards in constraints and tables', async () => {
    const M = 'duplicate key value violates unique constraint "writer_pkey_102010"';
    const expected = {
      code: 'constraint-violation',
      message: 'Uniqueness violation. duplicate key value violates unique constraint "writer_pkey"',
    };
    expect(await seen({ C: '23505', M, W: WORKER })).toMatchObject(expected);
    // A shard on the coordinator itself.
    expect(await seen({ C: '23505', M, t: 'writer_102010', n: 'writer_pkey_102010' })).toMatchObject(expected);
    const missing = 'null value in column "a_102010" of relation "t_2024_1020100" violates not-null constraint';
    expect((await seen({ C: '23502', M: missing, W: WORKER })).message).toContain('column "a_102010" of relation "t_2024" violates');
    const referred = 'update or delete on table "a "b" c_102008" violates foreign key constraint "c_fkey_102040" on table "orders_102040"';
    expect((await seen({ C: '23503', M: referred, W: WORKER })).message).toContain(
      'table "a "b" c" violates foreign key constraint "c_fkey" on table "orders"',
    );
  });

  it('replaces names of shards without a constraint, and names that Citus truncated', async () => {
    const missing = 'null value in column "size" of relation "cl_102628" violates not-null constraint';
    expect((await seen({ C: '23502', M: missing, t: 'cl_102628' })).message).toContain('relation "cl" violates');
    const dated = 'null value in column "size" of relation "report_20241231" violates not-null constraint';
    expect((await seen({ C: '23502', M: dated, t: 'report_20241231' })).message).toContain('relation "report_20241231" violates');
    const cut = 'duplicate key value violates unique constraint "a_very_long_table_name_that_is_nearly_as_long_a_3f4f73ad_102597"';
    expect((await seen({ C: '23505', M: cut, W: WORKER })).message).toContain('"a_very_long_table_name_that_is_nearly_as_long_a"');
    const inside = await seen({ C: '42P01', M: 'relation "thing_102597" does not exist', W: WORKER });
    expect(inside.internal).toMatchObject({ error: { message: 'relation "thing" does not exist' } });
  });

  it('replaces names of shards with quotes and line breaks (PostgreSQL does not double the quotes)', async () => {
    const M = 'duplicate key value violates unique constraint "T "x" ü\n%_pkey_102434"';
    const expected = 'Uniqueness violation. duplicate key value violates unique constraint "T "x" ü\n%_pkey"';
    expect((await seen({ C: '23505', M, W: WORKER })).message).toBe(expected);
    expect((await seen({ C: '23505', M, t: 'T "x" ü\n%_102434', n: 'T "x" ü\n%_pkey_102434' })).message).toBe(expected);
    // A name that looks truncated, after one without a number.
    const check = 'new row for relation "orders of the year" violates check constraint "size_0a1b2c3d_102434" and nothing else';
    expect((await seen({ C: '23514', M: check, W: WORKER })).message).toContain('relation "orders of the year" violates');
    expect((await seen({ C: '23514', M: check, W: WORKER })).message).toContain('constraint "size_0a1b2c3d" and');
  });

  it('does not change values of requests in error messages', async () => {
    const message = 'invalid input syntax for type integer: "table "x_102010""';
    expect((await seen({ C: '22P02', M: message, W: WORKER })).message).toBe(message);
  });

  it('does not change errors of the coordinator', async () => {
    const message = 'duplicate key value violates unique constraint "year_2024"';
    expect((await seen({ C: '23505', M: message, t: 'report_2024', n: 'year_2024' })).message).toBe(`Uniqueness violation. ${message}`);
    const dated = 'duplicate key value violates unique constraint "report_20241231_pkey"';
    expect((await seen({ C: '23505', M: dated, t: 'report_20241231', n: 'report_20241231_pkey' })).message).toBe(
      `Uniqueness violation. ${dated}`,
    );
    const error = new SvcError('unexpected', 'x');
    expect(await translateError(error, async () => true)).toBe(error);
    expect(await translateError(undefined, async () => true)).toBeUndefined();
  });

  it('maps operations that Citus does not support to not-supported', async () => {
    expect(await seen({ C: '0A000', M: 'modifying the partition value of rows is not allowed', H: 'Try it otherwise.' })).toMatchObject({
      code: 'not-supported',
      message: 'the database does not support this',
      status: 400,
      internal: { error: { message: 'modifying the partition value of rows is not allowed', hint: 'Try it otherwise.' } },
    });
    expect(await seen({ C: 'XX000', M: 'relation writer is not distributed' })).toMatchObject({
      code: 'not-supported',
      message: 'the database does not support this',
      status: 400,
      internal: { error: { message: 'relation writer is not distributed' } },
    });
  });

  it.each([
    'could not find valid entry for shard 0',
    'relation svc.note is not distributed',
    'the query contains a join that requires repartitioning',
    'cannot run SELECT command because there was a parallel operation on a distributed table in the transaction',
    'unsupported aggregate function geo',
    'MERGE with RETURNING is not yet supported for Citus tables',
    'cannot approximate count(distinct) and order by it',
    'the intermediate result size exceeds citus.max_intermediate_result_size (currently 1048576 kB)',
    'Cannot coerce a to b',
  ])('maps an internal error about an unsupported operation to not-supported: %s', async (M) => {
    expect(await seen({ C: 'XX000', M })).toMatchObject({ code: 'not-supported', status: 400 });
  });

  it.each([
    'tuple concurrently updated',
    'invalid memory alloc request size 1073741824',
    'missing chunk number 0 for toast value 16400 in pg_toast_16393',
    'failure on connection marked as essential: 10.0.0.2:5432',
    'no active placements were found for shard 102008',
    'cache lookup failed for type 16400',
  ])('maps other internal errors to unexpected: %s', async (M) => {
    expect(await seen({ C: 'XX000', M })).toMatchObject({ code: 'unexpected', status: 500, internal: { error: { message: M } } });
  });

  it('marks a failed commit of a shard as uncertain', async () => {
    const M = 'could not commit transaction for shard 102008 on at least one active node';
    expect(await seen({ C: 'XX000', M })).toMatchObject({
      code: 'postgres-error',
      status: 500,
      isTransient: true,
      isUncertain: true,
      internal: { error: { message: M } },
    });
  });

  it('keeps an error uncertain when it replaces names of shards', async () => {
    const M = 'relation "thing_102597" is gone';
    const failure = new DatabaseError(new Map(Object.entries({ S: 'FATAL', C: '57P01', M, W: WORKER })));
    const error = commitError(failure, { text: 'commit', values: [], prepared: false });
    expect(error.isUncertain).toBe(true);
    const named = (await translateError(error, async () => true)) as SvcError;
    expect(named).not.toBe(error);
    expect(named).toMatchObject({ isUncertain: true, isTransient: true });
  });
});

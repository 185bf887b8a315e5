import { describe, expect, it } from 'vitest';
import { SvcError } from '../../errors/svc-error.ts';
import { DatabaseError } from '../pg/driver/database-error.ts';
import { statementError } from '../pg/errors.ts';
import { ofCitus } from './errors.ts';

/** By the letters of the protocol. */
const seen = (fields: Readonly<Record<string, string>>): SvcError => {
  const failure = new DatabaseError(new Map(Object.entries({ S: 'ERROR', ...fields })));
  return ofCitus(statementError(failure, { text: 'select', values: [], prepared: false })) as SvcError;
};
const WORKER = 'while executing command on 10.0.0.2:5432';

describe('errors of a cluster', () => {
  it('name constraints and tables as the coordinator does', () => {
    const M = 'duplicate key value violates unique constraint "writer_pkey_102010"';
    const expected = {
      code: 'constraint-violation',
      message: 'Uniqueness violation. duplicate key value violates unique constraint "writer_pkey"',
    };
    expect(seen({ C: '23505', M, W: WORKER })).toMatchObject(expected);
    // A shard that the coordinator has itself.
    expect(seen({ C: '23505', M, t: 'writer_102010', n: 'writer_pkey_102010' })).toMatchObject(expected);
    const missing = 'null value in column "a_102010" of relation "t_2024_1020100" violates not-null constraint';
    expect(seen({ C: '23502', M: missing, W: WORKER }).message).toContain('column "a_102010" of relation "t_2024" violates');
    const referred =
      'update or delete on table "a ""b"" c_102008" violates foreign key constraint "c_fkey_102040" on table "orders_102040"';
    expect(seen({ C: '23503', M: referred, W: WORKER }).message).toContain(
      'table "a ""b"" c" violates foreign key constraint "c_fkey" on table "orders"',
    );
  });

  it('leave the values of requests alone', () => {
    const message = 'invalid input syntax for type integer: "table "x_102010""';
    expect(seen({ C: '22P02', M: message, W: WORKER }).message).toBe(message);
  });

  it('are left alone where they come from the coordinator', () => {
    const message = 'duplicate key value violates unique constraint "year_2024"';
    expect(seen({ C: '23505', M: message, t: 'report_2024', n: 'year_2024' }).message).toBe(`Uniqueness violation. ${message}`);
    const dated = 'duplicate key value violates unique constraint "report_20241231_pkey"';
    expect(seen({ C: '23505', M: dated, t: 'report_20241231', n: 'report_20241231_pkey' }).message).toBe(`Uniqueness violation. ${dated}`);
    const error = new SvcError('unexpected', 'x');
    expect(ofCitus(error)).toBe(error);
    expect(ofCitus(undefined)).toBeUndefined();
  });

  it('are not-supported for what the extension does not do', () => {
    expect(seen({ C: '0A000', M: 'modifying the partition value of rows is not allowed', H: 'Try it otherwise.' })).toMatchObject({
      code: 'not-supported',
      message: 'the database does not support this: modifying the partition value of rows is not allowed; Try it otherwise.',
      status: 400,
    });
  });
});

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
    const fields = { C: '23505', M: 'duplicate key value violates unique constraint "writer_pkey_102010"', t: 'writer_102010', W: WORKER };
    expect(seen(fields)).toMatchObject({
      code: 'constraint-violation',
      message: 'Uniqueness violation. duplicate key value violates unique constraint "writer_pkey"',
    });
    const missing = { C: '23502', M: 'null value in column "a" of relation "t_1" violates not-null constraint', t: 't_1', W: WORKER };
    expect(seen(missing).message).toContain('relation "t" violates');
  });

  it('are left alone where they come from the coordinator', () => {
    const message = 'duplicate key value violates unique constraint "year_2024"';
    expect(seen({ C: '23505', M: message, t: 'report_2024' }).message).toBe(`Uniqueness violation. ${message}`);
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

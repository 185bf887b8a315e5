import { expect, it } from 'vitest';
import { ConnectionError, DatabaseError, PoolTimeoutError } from './driver/database-error.ts';
import { statementError } from './errors.ts';

const STATEMENT = { text: 'select 1', values: ['a', null], prepared: true };

function failed(code: string, message = 'boom'): DatabaseError {
  return new DatabaseError(new Map(Object.entries({ V: 'ERROR', C: code, M: message, D: 'why' })));
}

it.each([
  ['23505', 'constraint-violation', 'Uniqueness violation. boom', 400],
  ['23503', 'constraint-violation', 'Foreign key violation. boom', 400],
  ['23502', 'constraint-violation', 'Not-NULL violation. boom', 400],
  ['23P01', 'constraint-violation', 'Exclusion violation. boom', 400],
  ['23001', 'constraint-violation', 'Can not delete or update due to data being referred. boom', 400],
  ['23514', 'permission-error', 'Check constraint violation. boom', 400],
  ['22003', 'data-exception', 'boom', 400],
  ['22P02', 'data-exception', 'boom', 400],
  ['22025', 'bad-request', 'boom', 400],
  ['42704', 'constraint-error', 'boom', 400],
  ['42P10', 'constraint-error', 'there is no unique or exclusion constraint on target column(s)', 400],
  ['40001', 'concurrent-update', 'serialization failure due to concurrent update', 400],
  ['40P01', 'concurrent-update', 'the statement met a concurrent update of the same rows', 400],
  ['42P01', 'unexpected', 'database query error', 500],
  ['57P01', 'postgres-error', 'connection error', 500],
  ['08006', 'postgres-error', 'connection error', 500],
  ['53300', 'postgres-max-connections-error', 'max connections reached on postgres', 500],
])('maps SQLSTATE %s', (sqlState, code, message, status) => {
  expect(statementError(failed(sqlState), STATEMENT)).toMatchObject({ code, message, status });
});

it('adds the statement to the internal part of an unexpected error', () => {
  expect(statementError(failed('23505'), STATEMENT).internal).toBeUndefined();
  expect(statementError(failed('42P01'), STATEMENT).internal).toEqual({
    statement: 'select 1',
    prepared: true,
    arguments: ['a', null],
    error: { exec_status: 'FatalError', status_code: '42P01', message: 'boom', description: 'why', hint: null },
  });
  expect(statementError(new ConnectionError('open', 'refused'), STATEMENT).internal).toBe('refused');
});

it('reports a pool timeout and a server without free connections as too many connections', () => {
  expect(statementError(new PoolTimeoutError('x'), STATEMENT).code).toBe('postgres-max-connections-error');
  expect(statementError(new ConnectionError('open', 'x', { code: '53300' }), STATEMENT).code).toBe('postgres-max-connections-error');
});

import { describe, expect, it } from 'vitest';
import { BigQueryError, isTransientFailure, runSqlError, statementError, StatementCancelledError } from './errors.ts';

const failed = (status: number, reason: string, message: string): Readonly<Record<string, unknown>> => {
  const {
    code,
    status: shown,
    message: text,
    internal,
    isTransient,
  } = statementError(new BigQueryError(status, reason, message), 'select 1', ['v']);
  return { code, status: shown, text, internal, isTransient };
};
const internal = (status: number | null, reason: string, message: string): object => ({
  statement: 'select 1',
  arguments: ['v'],
  error: { status_code: status, reason, message },
});

describe('errors of BigQuery', () => {
  it.each([
    [400, 'invalidQuery', 'Division by zero: 1 / 0', 'data-exception', 400, 'Division by zero: 1 / 0'],
    [400, 'invalidQuery', 'Unrecognized name: a', 'unexpected', 500, 'database query error'],
    [
      400,
      'bytesBilledLimitExceeded',
      'Query exceeded limit',
      'bad-request',
      400,
      'the query reads more than the source allows: Query exceeded limit',
    ],
    [400, 'resourcesExceeded', 'too much', 'bad-request', 400, 'the query exceeds the limits of BigQuery: request fewer rows or fields'],
    [403, 'responseTooLarge', 'too much', 'bad-request', 400, 'the query exceeds the limits of BigQuery: request fewer rows or fields'],
    [403, 'quotaExceeded', 'Quota exceeded: too many', 'database-error', 503, 'a quota of the BigQuery project is exhausted'],
    [400, 'tableUnavailable', 'later', 'database-error', 503, 'BigQuery is busy or unavailable'],
    [403, 'accessDenied', 'Access Denied: Table p:d.t', 'unexpected', 500, 'database query error'],
    [403, 'rateLimitExceeded', 'slowly', 'database-error', 503, 'BigQuery is busy or unavailable'],
    [503, 'backendError', 'away', 'database-error', 503, 'BigQuery is busy or unavailable'],
    [400, 'invalidQuery', "Invalid timestamp: '2020-13-01'", 'data-exception', 400, "Invalid timestamp: '2020-13-01'"],
    [400, 'invalidQuery', 'Invalid NUMERIC value: x', 'data-exception', 400, 'Invalid NUMERIC value: x'],
    [400, 'invalidQuery', 'Failed to parse input string "x"', 'data-exception', 400, 'Failed to parse input string "x"'],
    [400, 'invalidQuery', 'Invalid function name: f at [1:8]', 'unexpected', 500, 'database query error'],
    [
      403,
      'accessDenied',
      'Access Denied: BigQuery BigQuery: User has neither fine-grained reader nor masked get permission to get data protected by policy tag "x" on column p:d.t.c.',
      'permission-denied',
      400,
      'a BigQuery policy denies the source access to data of the query',
    ],
    [401, 'authError', 'no', 'database-error', 500, 'connection error'],
    [200, 'stopped', 'cancelled', 'timeout', 400, 'the database stopped the statement'],
  ])('maps status %s, %s, %s', (status, reason, message, code, shown, text) => {
    expect(failed(status, reason, message)).toMatchObject({ code, text, status: shown });
  });

  it('names no column of a table that requires a partition filter', () => {
    const message =
      "Cannot query over table 'd.t' without a filter over column(s) 'secret', '_PARTITIONDATE' that can be used for partition elimination";
    expect(failed(400, 'invalidQuery', message)).toMatchObject({
      code: 'bad-request',
      text: expect.not.stringContaining('secret'),
      internal: internal(400, 'invalidQuery', message),
    });
  });

  it('shows administrators the original error', () => {
    expect(runSqlError(new BigQueryError(0, 'invalidQuery', 'no'), 'x')).toMatchObject({
      code: 'database-error',
      message: 'query execution failed',
      internal: { statement: 'x', arguments: [], error: { status_code: null, reason: 'invalidQuery', message: 'no' } },
    });
  });

  it('tells transient failures from permanent ones', () => {
    expect(isTransientFailure(new BigQueryError(429, '', ''))).toBe(true);
    expect(isTransientFailure(new BigQueryError(400, 'jobBackendError', ''))).toBe(true);
    expect(isTransientFailure(new BigQueryError(400, 'invalidQuery', ''))).toBe(false);
    expect(statementError(new StatementCancelledError('deadline'), '', [])).toMatchObject({ code: 'timeout' });
    expect(statementError(new StatementCancelledError('abort'), '', []).message).toBe('the request was cancelled');
  });
});

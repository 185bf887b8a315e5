import { describe, expect, it } from 'vitest';
import { durationText, recentOperations, summaries } from './recent-operations.ts';

const operation = (changes: object) => ({
  at: '2026-01-01T00:00:00Z',
  request_id: 'r',
  type: 'query',
  name: null,
  role: 'admin',
  duration: 1,
  error: null,
  document: '{ a }',
  ...changes,
});

describe('recent operations', () => {
  it('are summarised by operation, those that took the most time first', () => {
    const read = recentOperations({
      operations: [
        operation({ duration: 5 }),
        operation({ name: 'B', duration: 100, role: 'reader' }),
        operation({ name: 'B', duration: 1, error: 'timeout' }),
        operation({ name: 'B', duration: 2 }),
        operation({ type: 'unknown', document: null, error: 'validation-failed', duration: 0.1 }),
      ],
    });
    expect(summaries(read)).toEqual([
      { label: 'B', type: 'query', roles: ['admin', 'reader'], requests: 3, errors: 1, median: 2, slowest: 100 },
      { label: '{ a }', type: 'query', roles: ['admin'], requests: 1, errors: 0, median: 5, slowest: 5 },
      { label: 'rejected document', type: 'unknown', roles: ['admin'], requests: 1, errors: 1, median: 0.1, slowest: 0.1 },
    ]);
    expect([durationText(0.123), durationText(123.4)]).toEqual(['0.1 ms', '123 ms']);
  });
});

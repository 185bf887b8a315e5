import { describe, expect, it } from 'vitest';
import { cronDraft, cronTimes, missingInCron, cronJson } from './cron-draft.ts';

const TRIGGER = {
  name: 'nightly',
  webhook: '{{HOOKS}}/nightly',
  schedule: '0 3 * * *',
  payload: { job: 'report' },
  retry_conf: { num_retries: 3, retry_interval_seconds: 30, timeout_seconds: 60, tolerance_seconds: 3600 },
  headers: [{ name: 'X-Key', value_from_env: 'KEY' }],
  include_in_metadata: false,
  comment: 'of the day',
  signature: { secret_from_env: 'SECRET' },
};
const AFTER = new Date('2026-03-28T02:30:00Z');
const times = (schedule: string, count = 5): readonly string[] => cronTimes(schedule, AFTER, count).map((time) => time.toISOString());

describe('form of a cron trigger', () => {
  it('writes an unedited trigger unchanged', () => {
    expect(cronJson(cronDraft(TRIGGER), TRIGGER)).toEqual(TRIGGER);
  });

  it('omits an empty payload, empty headers and an empty comment', () => {
    const { payload: _payload, headers: _headers, comment: _comment, ...rest } = TRIGGER;
    expect(cronJson({ ...cronDraft(TRIGGER), payload: ' ', headers: [], comment: '' }, TRIGGER)).toEqual(rest);
    expect(cronDraft({ ...TRIGGER, payload: null }).payload).toBe('');
  });

  it('names missing and invalid fields', () => {
    const draft = cronDraft();
    expect(missingInCron(draft)).toBe('Enter a name');
    expect(missingInCron({ ...draft, name: 'a' })).toContain('URL');
    expect(missingInCron({ ...draft, name: 'a', webhook: 'b', schedule: ' ' })).toContain('schedule');
    expect(missingInCron({ ...draft, name: 'a', webhook: 'b' })).toBeUndefined();
    expect(() => cronJson({ ...draft, payload: '{' })).toThrow('Payload: invalid JSON');
    expect(() => cronJson({ ...draft, retries: '-1' })).toThrow('whole number');
  });
});

describe('times of a schedule', () => {
  it('are in UTC in any time zone', () => {
    expect(times('0 3 * * *', 3)).toEqual(['2026-03-28T03:00:00.000Z', '2026-03-29T03:00:00.000Z', '2026-03-30T03:00:00.000Z']);
  });

  it('match either of two restricted days, and can end', () => {
    expect(times('0 0 1 * 1', 2)).toEqual(['2026-03-30T00:00:00.000Z', '2026-04-01T00:00:00.000Z']);
    expect(times('0 0 31 2 *')).toEqual([]);
  });

  it('reject an invalid schedule', () => {
    expect(() => times('0 3 * *')).toThrow('five fields');
    expect(() => times('0 0 3 * * *')).toThrow('five fields');
    expect(() => times('99 3 * * *')).toThrow();
  });
});

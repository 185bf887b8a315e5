import { describe, expect, it } from 'vitest';
import { cronDraft, cronTimes, missingOfCron, writtenCron } from './cron-draft.ts';

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

describe('the form of a cron trigger', () => {
  it('writes a trigger as it was read, with what it does not show', () => {
    expect(writtenCron(cronDraft(TRIGGER), TRIGGER)).toEqual(TRIGGER);
  });

  it('leaves out a payload, headers and a comment that are empty', () => {
    const { payload: _payload, headers: _headers, comment: _comment, ...rest } = TRIGGER;
    expect(writtenCron({ ...cronDraft(TRIGGER), payload: ' ', headers: [], comment: '' }, TRIGGER)).toEqual(rest);
    expect(cronDraft({ ...TRIGGER, payload: null }).payload).toBe('');
  });

  it('says what is missing or wrong', () => {
    const draft = cronDraft();
    expect(missingOfCron(draft)).toBe('Give it a name');
    expect(missingOfCron({ ...draft, name: 'a' })).toContain('URL');
    expect(missingOfCron({ ...draft, name: 'a', webhook: 'b', schedule: ' ' })).toContain('when');
    expect(missingOfCron({ ...draft, name: 'a', webhook: 'b' })).toBeUndefined();
    expect(() => writtenCron({ ...draft, payload: '{' })).toThrow('The payload: this is no JSON');
    expect(() => writtenCron({ ...draft, retries: '-1' })).toThrow('whole number');
  });
});

describe('the next times of a schedule', () => {
  it('are in UTC, whatever the zone and its summer time', () => {
    expect(times('0 3 * * *', 3)).toEqual(['2026-03-28T03:00:00.000Z', '2026-03-29T03:00:00.000Z', '2026-03-30T03:00:00.000Z']);
  });

  it('fulfil either day where both are restricted, and end where there are no more', () => {
    expect(times('0 0 1 * 1', 2)).toEqual(['2026-03-30T00:00:00.000Z', '2026-04-01T00:00:00.000Z']);
    expect(times('0 0 31 2 *')).toEqual([]);
  });

  it('are not told of what is no schedule', () => {
    expect(() => times('0 3 * *')).toThrow('five fields');
    expect(() => times('0 0 3 * * *')).toThrow('five fields');
    expect(() => times('99 3 * * *')).toThrow();
  });
});

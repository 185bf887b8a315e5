import { describe, expect, it } from 'vitest';
import { missingOfOneOff, oneOffDraft, writtenOneOff } from './one-off-draft.ts';

const AT = new Date('2030-01-01T09:30:00.000Z');

describe('the form of a one-off event', () => {
  it('writes the time in UTC that was chosen in the time of here, and leaves out what is empty', () => {
    const draft = { ...oneOffDraft(AT), webhook: ' {{HOOKS}}/remind ' };
    expect(writtenOneOff(draft)).toEqual({
      webhook: '{{HOOKS}}/remind',
      schedule_at: AT.toISOString(),
      retry_conf: { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 21_600 },
    });
    const all = {
      ...draft,
      payload: '{"id":9007199254740993}',
      comment: 'soon',
      headers: [{ key: 'X', value: 'KEY', isFromEnvironment: true }],
    };
    expect(writtenOneOff(all)).toMatchObject({ comment: 'soon', headers: [{ name: 'X', value_from_env: 'KEY' }] });
    expect(String((writtenOneOff(all)['payload'] as { id: unknown }).id)).toBe('9007199254740993');
  });

  it('says what is missing or wrong', () => {
    const draft = oneOffDraft(AT);
    expect(missingOfOneOff(draft)).toContain('URL');
    expect(missingOfOneOff({ ...draft, webhook: 'a' })).toBeUndefined();
    expect(missingOfOneOff({ ...draft, webhook: 'a', at: '' })).toContain('when');
    expect(() => writtenOneOff({ ...draft, at: 'soon' })).toThrow('no such time');
    expect(() => writtenOneOff({ ...draft, timeout: '1.5' })).toThrow('whole number');
    expect(() => writtenOneOff({ ...draft, payload: '{' })).toThrow('The payload: this is no JSON');
  });
});

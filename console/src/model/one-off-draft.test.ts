import { describe, expect, it } from 'vitest';
import { missingInOneOff, oneOffDraft, oneOffJson } from './one-off-draft.ts';

const AT = new Date('2030-01-01T09:30:00.000Z');

describe('form of a one-off event', () => {
  it('converts local time to UTC and omits empty fields', () => {
    const draft = { ...oneOffDraft(AT), webhook: ' {{HOOKS}}/remind ' };
    expect(oneOffJson(draft)).toEqual({
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
    expect(oneOffJson(all)).toMatchObject({ comment: 'soon', headers: [{ name: 'X', value_from_env: 'KEY' }] });
    expect(String((oneOffJson(all)['payload'] as { id: unknown }).id)).toBe('9007199254740993');
  });

  it('names missing and invalid fields', () => {
    const draft = oneOffDraft(AT);
    expect(missingInOneOff(draft)).toContain('URL');
    expect(missingInOneOff({ ...draft, webhook: 'a' })).toBeUndefined();
    expect(missingInOneOff({ ...draft, webhook: 'a', at: '' })).toContain('time');
    expect(() => oneOffJson({ ...draft, at: 'soon' })).toThrow('This time does not exist.');
    expect(() => oneOffJson({ ...draft, timeout: '1.5' })).toThrow('whole number');
    expect(() => oneOffJson({ ...draft, payload: '{' })).toThrow('Payload: invalid JSON');
  });
});

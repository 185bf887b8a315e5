import { describe, expect, it } from 'vitest';
import { localTime, pickedTime, timeForPicker } from './local-time.ts';

describe('local times', () => {
  it('are the same time with the offset of the time zone', () => {
    const at = new Date('2026-11-29T14:03:05Z');
    expect(new Date(localTime(at, 'instant'))).toEqual(at);
    expect(new Date(pickedTime(timeForPicker('2026-11-29T14:03:05+00:00', 'instant'), 'instant'))).toEqual(at);
  });

  it('are shown by a picker if it can show them', () => {
    expect(timeForPicker('2026-11-29', 'date')).toBe('2026-11-29');
    expect(timeForPicker('infinity', 'date')).toBe('');
    expect(pickedTime('2026-11-29T14:03', 'datetime')).toBe('2026-11-29T14:03');
    expect(timeForPicker('infinity', 'datetime')).toBe('');
    expect(timeForPicker('14:03:05.25+02', 'time')).toBe('14:03:05');
  });
});

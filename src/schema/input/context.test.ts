import { describe, expect, test } from 'vitest';
import type { Constraint } from '../constraint.ts';
import { createConstraintRecorder } from './context.ts';

const fact = (index: number): Constraint => ({ variable: 'x', path: [index], fact: { kind: 'keys', keys: ['a'] } });

describe('more facts than are kept', () => {
  test('are refused', () => {
    const recorder = createConstraintRecorder(2);
    recorder.record(fact(0));
    recorder.record(fact(1));
    recorder.record(fact(1));
    expect(() => recorder.record(fact(2))).toThrow('the variables have more than 2 parts that the operation depends on');
    expect(recorder.isComplete()).toBe(true);
  });

  test('or make the plan one of this request only', () => {
    const recorder = createConstraintRecorder(2, 'drop');
    recorder.record(fact(0));
    recorder.record(fact(1));
    expect(recorder.isComplete()).toBe(true);
    expect(recorder.list()).toEqual([fact(0), fact(1)]);
    for (let i = 2; i < 100_000; i++) recorder.record(fact(i));
    expect(recorder.isComplete()).toBe(false);
    expect(recorder.list()).toEqual([]);
  });
});

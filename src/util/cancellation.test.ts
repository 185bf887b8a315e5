import { expect, it } from 'vitest';
import { CancellationSource, isPrompt, onCancel } from './cancellation.ts';

it('aborts its signal, whether the signal was created before or after', () => {
  const source = new CancellationSource();
  const before = source.signal();
  expect([source.aborted, before.aborted]).toEqual([false, false]);
  source.cancel();
  expect([source.aborted, before.aborted, source.signal()]).toEqual([true, true, before]);

  const late = new CancellationSource();
  late.cancel();
  expect(late.signal().aborted).toBe(true);
});

it('is cancelled with its parent, but does not cancel the parent', () => {
  const whole = new CancellationSource();
  const [one, other] = [new CancellationSource(whole), new CancellationSource(whole)];
  const signal = other.signal();
  one.cancel();
  expect([whole.aborted, one.aborted, one.signal().aborted, other.aborted, signal.aborted]).toEqual([false, true, true, false, false]);
  whole.cancel();
  expect([other.aborted, signal.aborted, new CancellationSource(whole).signal().aborted]).toEqual([true, true, true]);
});

it('notifies listeners of children until they are removed', () => {
  const whole = new CancellationSource();
  const calls: string[] = [];
  new CancellationSource(whole).onCancel(() => calls.push('a'));
  new CancellationSource(whole).onCancel(() => calls.push('b'))();
  whole.cancel();
  expect(calls).toEqual(['a']);
});

it.each([
  [
    'a source',
    () => {
      const source = new CancellationSource();
      return { cancellation: source, cancel: () => source.cancel() };
    },
  ],
  [
    'a signal',
    () => {
      const controller = new AbortController();
      return { cancellation: controller.signal, cancel: () => controller.abort() };
    },
  ],
] as const)('%s notifies listeners once, and removed listeners never', (_what, make) => {
  const { cancellation, cancel } = make();
  const calls: string[] = [];
  onCancel(cancellation, () => calls.push('a'));
  onCancel(cancellation, () => calls.push('b'))();
  cancel();
  cancel();
  expect(calls).toEqual(['a']);
  expect(isPrompt(cancellation)).toBe(true);
  expect(isPrompt({ aborted: false })).toBe(false);
});

import { expect, it } from 'vitest';
import { CancellationSource, isPrompt, onCancel } from './cancellation.ts';

it('tells its signal, whether that was asked for before or after', () => {
  const source = new CancellationSource();
  const before = source.signal();
  expect([source.aborted, before.aborted]).toEqual([false, false]);
  source.cancel();
  expect([source.aborted, before.aborted, source.signal()]).toEqual([true, true, before]);

  const late = new CancellationSource();
  late.cancel();
  expect(late.signal().aborted).toBe(true);
});

it('is cancelled with what it is a part of, and not the other way round', () => {
  const whole = new CancellationSource();
  const [one, other] = [new CancellationSource(whole), new CancellationSource(whole)];
  const told = other.signal();
  one.cancel();
  expect([whole.aborted, one.aborted, one.signal().aborted, other.aborted, told.aborted]).toEqual([false, true, true, false, false]);
  whole.cancel();
  expect([other.aborted, told.aborted, new CancellationSource(whole).signal().aborted]).toEqual([true, true, true]);
});

it('tells listeners of its parts, while they listen', () => {
  const whole = new CancellationSource();
  const heard: string[] = [];
  new CancellationSource(whole).onCancel(() => heard.push('a'));
  new CancellationSource(whole).onCancel(() => heard.push('b'))();
  whole.cancel();
  expect(heard).toEqual(['a']);
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
] as const)('%s tells listeners once, and those no more that do not listen', (_what, make) => {
  const { cancellation, cancel } = make();
  const heard: string[] = [];
  onCancel(cancellation, () => heard.push('a'));
  onCancel(cancellation, () => heard.push('b'))();
  cancel();
  cancel();
  expect(heard).toEqual(['a']);
  expect(isPrompt(cancellation)).toBe(true);
  expect(isPrompt({ aborted: false })).toBe(false);
});

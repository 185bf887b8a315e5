import { expect, it } from 'vitest';
import { CancellationSource } from './cancellation.ts';

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

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

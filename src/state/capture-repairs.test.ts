import { expect, it, vi } from 'vitest';
import { WAIT } from '../../test/support/wait.ts';
import { CaptureRepairs } from './capture-repairs.ts';
import type { Assembled } from './assembled.ts';
import type { EventCaptures } from './event-captures.ts';

it('does not publish a comparison that began before a change ended', async () => {
  const shown: boolean[] = [];
  const repairs = new CaptureRepairs({
    captures: {
      repair: async () => {
        // A change with an unknown outcome ends while the first comparison runs, and requests another comparison.
        if (shown.length === 0) repairs.request(['default'], { ended: 'draft' });
        return { failures: new Map(), isComplete: true };
      },
    } as unknown as EventCaptures,
    observe: () => undefined,
    retry: { firstMs: 1, maxMs: 1 },
    confirmed: async () => ({ now: {} as Assembled, isComplete: true }),
    show: async (_source, _failures, isCurrent) => {
      shown.push(isCurrent());
      return isCurrent();
    },
  });
  repairs.request(['default']);
  await vi.waitFor(() => expect(shown).toEqual([false, true]), WAIT);
  await repairs.stop();
});

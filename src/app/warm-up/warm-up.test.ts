import { expect, test } from 'vitest';
import { startWarmUp } from './warm-up.ts';

// A rejected request would throw.
test('the warm-up runs all its requests', async () => {
  await expect(startWarmUp().done).resolves.toBeUndefined();
});

test('the warm-up yields between requests and ends when it is stopped', async () => {
  const warmUp = startWarmUp();
  let ended = false;
  void warmUp.done.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  warmUp.stop();
  await warmUp.done;
});

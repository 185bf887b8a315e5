import { expect, test } from 'vitest';
import { startWarmUp } from './warm-up.ts';

// A request that were refused would throw: each passes through everything up to the database.
test('its requests are answered', async () => {
  await expect(startWarmUp().done).resolves.toBeUndefined();
});

test('ends when it is stopped, and lets others work in between', async () => {
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

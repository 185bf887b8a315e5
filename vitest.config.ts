import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.mjs'],
    globalSetup: ['test/global-setup.ts'],
    // Each test service has a pool of its own, and all share one database server. Workers also wait: for it, and for
    // processes; so there is one more of them than processors.
    maxWorkers: Math.min(availableParallelism() + 1, 6),
    // A worker imports the service once for all of its files instead of once for each. Tests leave nothing behind in it.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

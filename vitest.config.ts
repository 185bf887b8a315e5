import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.mjs'],
    globalSetup: ['test/global-setup.ts'],
    // Each test service has a pool of its own, and all share one database server.
    maxWorkers: Math.min(availableParallelism(), 6),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

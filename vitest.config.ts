import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Run in the stage `console` of .ci/run: they need a browser, and take long. */
const SCENARIOS = process.env['SVC_TEST_CONSOLE'] === '1' ? [] : ['test/console/!(sign-in).test.ts', 'test/examples/**'];

/** Left to `npm run test:deep`. */
const LONG =
  process.env['SVC_TEST_DEEP'] === '1'
    ? []
    : readFileSync(new URL('test/long-files.txt', import.meta.url), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'));

/** Those that measure their own process, which has to be their own. */
const MEASURING = ['test/http/bodies.test.ts', 'test/http/hostile-documents.test.ts', 'test/http/large-requests.test.ts', 'test/memory/**'];

const common = {
  // Each test service has a pool of its own, and all share one database server. Workers also wait: for it, and for
  // processes; so there is one more of them than processors.
  maxWorkers: Math.min(availableParallelism() + 1, 6),
  // Reached only by what hangs: the slowest take some ten seconds where nothing else runs, and several times that beside other work.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    ...common,
    globalSetup: ['test/global-setup.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.mjs', 'console/src/**/*.test.ts'],
          exclude: [...MEASURING, ...SCENARIOS, ...LONG, '**/node_modules/**'],
          // A worker imports the service once for all of its files instead of once for each. Tests leave nothing behind in it.
          isolate: false,
        },
      },
      { test: { ...common, name: 'alone', include: MEASURING.map((path) => path.replace('**', '*.test.ts')), exclude: LONG } },
    ],
  },
});

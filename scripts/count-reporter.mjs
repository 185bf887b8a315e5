// Reporter of vitest for run-vitest.mjs: writes the numbers of passed and failed tests, and the skipped tests, to the file SVC_TEST_COUNTS.
import { writeFileSync } from 'node:fs';

// biome-ignore lint/style/noDefaultExport: vitest needs one
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: [] };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else counts.skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
      // A file or suite can fail without a failed test.
      if (module.errors().length > 0) counts.failed += 1;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    }
    writeFileSync(process.env.SVC_TEST_COUNTS, JSON.stringify(counts));
  }
}

// Runs vitest, and prints the numbers of passed and failed tests on the last line. With SVC_TEST_NO_SKIPS=1 skipped tests count as failed,
// for stages that install all requirements.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './ensure-packages.mjs';

/** Maximum number of skipped tests that are listed. */
const MOST_LISTED = 50;

/** @returns the exit code */
export async function runVitest(args, environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-counts-'));
  const counts = join(folder, 'counts.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'count-reporter.mjs')}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'test', ...environment, SVC_TEST_COUNTS: counts },
  });
  // vitest receives the signals of a terminal itself and stops cleanly; other signals are forwarded.
  const passOn = (signal) => child.kill(signal);
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', passOn);
  const status = await new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  const { passed, failed, skipped } = read(counts);
  rmSync(folder, { recursive: true, force: true });
  const unwanted = process.env.SVC_TEST_NO_SKIPS === '1' ? skipped : [];
  if (unwanted.length > 0) console.log(`skipped, but must not be:\n${unwanted.slice(0, MOST_LISTED).join('\n')}`);
  const failures = failed + unwanted.length;
  console.log(`${passed} passed, ${status === 0 ? failures : Math.max(failures, 1)} failed`);
  return status === 0 && unwanted.length > 0 ? 1 : status;
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
}

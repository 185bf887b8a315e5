// Runs the tests repeatedly beside busy loops that occupy the processors, to find tests that depend on timing. See test/README.md.
// Arguments: runs=10 loops=2 minutes=15; further ones go to vitest.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const MOST_LISTED = 30;
/** Ends with the script, even if that is killed. */
const LOOP = 'const { ppid } = process; while (process.ppid === ppid) for (let i = 0; i < 1e7; i++);';
const TESTS = fileURLToPath(new URL('test.mjs', import.meta.url));

const options = { runs: 10, loops: 2, minutes: 15 };
const forwarded = [];
for (const argument of process.argv.slice(2)) {
  const [, name, number] = /^(runs|loops|minutes)=(\d+)$/.exec(argument) ?? [];
  if (name === undefined) forwarded.push(argument);
  else options[name] = Number(number);
}

const folder = mkdtempSync(join(tmpdir(), 'svc-soak-'));
const loops = Array.from({ length: options.loops }, () => spawn(process.execPath, ['-e', LOOP], { stdio: 'ignore' }));
let running;
const stopAll = () => {
  for (const loop of loops) loop.kill('SIGKILL');
  running?.kill('SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    stopAll();
    process.exit(130);
  });
}

const failed = [];
for (let run = 1; run <= options.runs; run++) {
  const { status, seconds, last, failures, log } = await runTests(run);
  console.log(`run ${run}: ${status === 0 ? 'passed' : `FAILED (${status})`} in ${seconds} s: ${last}`);
  for (const name of failures.slice(0, MOST_LISTED)) console.log(`  ${name}`);
  if (status === 0) rmSync(log);
  else {
    console.log(`  output: ${log}`);
    failed.push(...(failures.length === 0 ? ['a run without a result'] : failures));
  }
}
stopAll();
const counts = new Map();
for (const name of failed) counts.set(name, (counts.get(name) ?? 0) + 1);
console.log(counts.size === 0 ? `all ${options.runs} runs passed` : 'failures of all runs:');
for (const [name, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(`  ${count} times ${name}`);
if (counts.size === 0) rmSync(folder, { recursive: true });
process.exitCode = counts.size === 0 ? 0 : 1;

/** Runs the tests once. */
async function runTests(run) {
  const log = join(folder, `run-${run}.log`);
  const started = performance.now();
  const output = createWriteStream(log);
  running = spawn(process.execPath, [TESTS, ...forwarded], { stdio: ['ignore', 'pipe', 'pipe'] });
  running.stdout.pipe(output, { end: false });
  running.stderr.pipe(output, { end: false });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    running.kill('SIGTERM');
  }, options.minutes * 60_000);
  const code = await new Promise((resolve) => running.once('close', (status, signal) => resolve(status ?? signal)));
  clearTimeout(timer);
  await new Promise((resolve) => output.end(resolve));
  const lines = stripVTControlCharacters(readFileSync(log, 'utf8')).split('\n');
  const failures = new Set(lines.map((line) => /^\s*FAIL\s+(.*)$/.exec(line)?.[1]).filter((name) => name !== undefined));
  return {
    status: isLate ? `no end after ${options.minutes} minutes` : code,
    seconds: Math.round((performance.now() - started) / 1000),
    last: lines.findLast((line) => /\d+ passed, \d+ failed/.test(line)) ?? 'no result',
    failures: [...failures],
    log,
  };
}

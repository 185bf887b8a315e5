import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { DEEP, sample } from '../../test/support/deep.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Watched {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  printed(): string;
  readonly ended: Promise<number | string | null>;
}

/** Starts a process whose stop takes `stopMs`, and which runs `script` when it is ready. */
async function run(stopMs: number, script = ''): Promise<Watched> {
  const source = `
    const { stopOnSignals } = await import(${JSON.stringify(new URL('./signals.ts', import.meta.url).href)});
    stopOnSignals({
      async stop() {
        console.log('stopping');
        await new Promise((resolve) => setTimeout(resolve, ${stopMs}));
        console.log('stopped');
      },
      abandon: () => console.log('abandoned'),
      failed: (message, error) => console.log(message + ': ' + error.message),
    });
    setInterval(() => {}, 1000);
    console.log('ready');
    ${script}`;
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const child = spawn(process.execPath, ['--import', tsx, '--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('ready')) resolve();
    });
  });
  const ended = new Promise<number | string | null>((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  await ready;
  return { child, printed: () => output, ended };
}

it.each(sample(['SIGINT', 'SIGTERM', 'SIGHUP'] as const, 1))('stops cleanly on %s', async (signal) => {
  const { child, printed, ended } = await run(100);
  child.kill(signal);
  expect(await ended).toBe(0);
  expect(printed()).toBe('ready\nstopping\nstopped\n');
});

it.runIf(DEEP)('treats a Ctrl-C that npm forwards as one signal', async () => {
  const { child, printed, ended } = await run(300);
  child.kill('SIGINT');
  await sleep(50);
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(printed()).toBe('ready\nstopping\nstopped\n');
});

it('exits at once on a second signal', async () => {
  const { child, printed, ended } = await run(60_000);
  child.kill('SIGTERM');
  while (!printed().includes('stopping')) await sleep(10);
  await sleep(800);
  child.kill('SIGTERM');
  expect(await ended).toBe(130);
  expect(printed()).toBe('ready\nstopping\nabandoned\n');
});

it('reports an uncaught error and stops', async () => {
  const { printed, ended } = await run(10, `setTimeout(() => { throw new Error('oops'); }, 10);`);
  expect(await ended).toBe(1);
  expect(printed()).toBe('ready\nuncaught error: oops\nstopping\nstopped\n');
});

import { readFileSync } from 'node:fs';

/** CPU time of the calling thread during a function, in ms; of all threads if the system does not report threads. */
export async function cpuOf(run: () => Promise<unknown>): Promise<number> {
  const before = cpuTime();
  await run();
  return cpuTime() - before;
}

function cpuTime(): number {
  const own = threadTime('/proc/thread-self/schedstat');
  if (own !== null) return own;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU time of the main thread of another process, in ms; null if the system does not report it. */
export function cpuOfProcess(pid: number): number | null {
  return threadTime(`/proc/${pid}/task/${pid}/schedstat`);
}

/** Linux reports nanoseconds on a processor, then waiting time and time slices. */
function threadTime(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6 || null;
  } catch {
    return null;
  }
}

/** CPU time of the reference work, in ms, on a processor for which budgets of CPU time hold as they are written. */
const REFERENCE_MS = 30;
const REFERENCE_ATTEMPTS = 5;

/** Returns by how much this machine is slower now than that processor, at least 1: shared machines take turns, and stand still. */
export async function slowness(): Promise<number> {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: `name ${i}`, score: i / 3, tags: ['a', String(i)] })),
  );
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < REFERENCE_ATTEMPTS; attempt++)
    best = Math.min(best, await cpuOf(async () => JSON.stringify(JSON.parse(text))));
  return Math.max(1, best / REFERENCE_MS);
}

import { readFileSync } from 'node:fs';

/** ms that a function computed on the thread that calls; where the system does not say, on all threads. */
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

/** ms that the main thread of another process has computed; null where the system does not say. */
export function cpuOfProcess(pid: number): number | null {
  return threadTime(`/proc/${pid}/task/${pid}/schedstat`);
}

/** Linux says it: nanoseconds on a processor, then waiting time and slices. */
function threadTime(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6 || null;
  } catch {
    return null;
  }
}

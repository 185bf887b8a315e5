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

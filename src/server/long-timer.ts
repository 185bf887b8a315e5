/** ms; timers cannot wait longer. */
const LONGEST = 2 ** 31 - 1;

/**
 * Calls back at a time, however far away; never within this call. Keeps no process alive.
 * @param at epoch milliseconds
 * @returns gives it up
 */
export function setLongTimer(at: number, callBack: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const left = at - Date.now();
    timer = setTimeout(left > LONGEST ? wait : callBack, Math.min(Math.max(left, 0), LONGEST)).unref();
  };
  wait();
  return () => clearTimeout(timer);
}

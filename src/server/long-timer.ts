/** Maximum delay of a Node timer, in ms. */
const MAX_DELAY = 2 ** 31 - 1;

/**
 * Calls back at a time, however far away; never within this call. Does not keep the process alive.
 * @param at epoch milliseconds
 * @returns a function that cancels the timer
 */
export function setLongTimer(at: number, callBack: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const left = at - Date.now();
    timer = setTimeout(left > MAX_DELAY ? wait : callBack, Math.min(Math.max(left, 0), MAX_DELAY)).unref();
  };
  wait();
  return () => clearTimeout(timer);
}

/**
 * Waiting times of events, counted from the last moment that restarts the wait: the event was committed or attempted, or the holder of its
 * lease died.
 */

/** Time around a crash of the database in which a grant may not have reached its holder, in s. */
const GRANT_AROUND_CRASH = 2;
/** Maximum delay of a sample of leases, by which grants look younger than they are, in s. */
const LOOK = 0.5;

/**
 * @param {object} run
 * @param {Map<string, number>} run.made time of the commit by event
 * @param {Map<string, { at: number, by: string }[]>} run.attempts attempts with their process, by event
 * @param {Map<string, { holder: string, granted: number, last: number }[]>} run.leases sampled leases by event
 * @param {Map<string, string>} run.holders processes by the id of their leases
 * @param {{ at: number, what: string, process?: string }[]} run.history kills and crashes
 * @returns every wait of an event for an attempt, longest first: `wait` since the last death of a holder, `between` in total, and its parts
 */
export function waits({ made, attempts, leases, holders, history }) {
  const found = [];
  for (const [event, times] of attempts) {
    const taken = (leases.get(event) ?? []).map((lease) => ({ ...lease, process: holders.get(lease.holder) }));
    const before = made.has(event) ? [{ at: made.get(event) }] : [];
    const all = [...before, ...times];
    for (let i = 1; i < all.length; i++) {
      const [from, to] = [all[i - 1], all[i]];
      const deaths = history.filter((fault) => fault.at > from.at && fault.at < to.at && hitsOneOf(fault, from, taken, to.at));
      const since = deaths.at(-1)?.at ?? from.at;
      const held = taken.filter(({ granted, last }) => last > from.at && granted < to.at);
      found.push({ event, wait: tenths(to.at - since), between: tenths(to.at - from.at), from, to, deaths, leases: held });
    }
  }
  return found.sort((a, b) => b.wait - a.wait);
}

/**
 * True if a fault took an event from its holder: the process was killed while it held the lease, as a later sample showed, or the database
 * crashed around the grant and the lease has not been renewed since.
 */
function hitsOneOf({ at, what, process }, from, taken, end) {
  return taken.some((lease) => {
    if (lease.last <= at || lease.granted >= end) return false;
    if (what === 'kill') return lease.process !== undefined && lease.process === process && lease.granted <= at + LOOK;
    // A holder that attempted the event had received the grant, so only a later grant can have been lost.
    return lease.granted > from.at + LOOK && Math.abs(lease.granted - at) <= GRANT_AROUND_CRASH;
  });
}

const tenths = (seconds) => Number(seconds.toFixed(1));

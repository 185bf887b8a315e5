/**
 * How long events waited, counted from the last moment at which somebody gave them back their right to wait: that they were
 * there, that they were attempted, or that whoever had taken them died.
 */

/** A grant that a crash of the database may have kept from the one to whom it was given. s */
const GRANT_AROUND_CRASH = 2;
/** That a look at leases comes late: grants look younger than they are by as much. s */
const LOOK = 0.5;

/**
 * @param {object} run
 * @param {Map<string, number>} run.made when an event was there
 * @param {Map<string, { at: number, by: string }[]>} run.attempts by which process
 * @param {Map<string, { holder: string, granted: number, last: number }[]>} run.leases what rows said, until when
 * @param {Map<string, string>} run.holders which process took events under which id
 * @param {{ at: number, what: string, process?: string }[]} run.history of kills and crashes
 * @returns every wait of an event for an attempt, the longest first: `wait` from the last death of a holder, `between` as a
 *   whole, and what it consists of
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
 * Whether a fault took an event from its holder: its process was killed while the event was under its lease, as it was seen
 * afterwards, or the database crashed around the grant, and the lease has not been renewed since.
 */
function hitsOneOf({ at, what, process }, from, taken, end) {
  return taken.some((lease) => {
    if (lease.last <= at || lease.granted >= end) return false;
    if (what === 'kill') return lease.process !== undefined && lease.process === process && lease.granted <= at + LOOK;
    // The one that had been attempted was known to its holder.
    return lease.granted > from.at + LOOK && Math.abs(lease.granted - at) <= GRANT_AROUND_CRASH;
  });
}

const tenths = (seconds) => Number(seconds.toFixed(1));

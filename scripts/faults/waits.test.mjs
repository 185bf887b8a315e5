import { describe, expect, it } from 'vitest';
import { waits } from './waits.mjs';

/** Event that `a` attempted at 10 with a lease of 9.9, which was in its row until the next attempt by `c`. */
function run({ leases, history, to = 100 }) {
  return waits({
    made: new Map([['e', 9]]),
    attempts: new Map([
      [
        'e',
        [
          { at: 10, by: 'a' },
          { at: to, by: 'c' },
        ],
      ],
    ]),
    leases: new Map([['e', leases]]),
    holders: new Map([
      ['of a', 'a'],
      ['of b', 'b'],
    ]),
    history,
  })[0];
}
const ofA = { holder: 'of a', granted: 9.9, last: 54 };
const ofB = { holder: 'of b', granted: 55, last: 99 };
const kill = (process, at) => ({ what: 'kill', process, at });

describe('the wait of an event', () => {
  it('is counted from the last death of a lease holder', () => {
    expect(run({ leases: [ofA, ofB], history: [kill('a', 11), kill('b', 55.1)] })).toMatchObject({ wait: 44.9, between: 90 });
  });

  it('continues if another process dies', () => {
    expect(run({ leases: [ofA, ofB], history: [kill('a', 11), kill('d', 60), kill('a', 70)] })).toMatchObject({ wait: 89, between: 90 });
  });

  it('is not shortened by a running holder', () => {
    expect(run({ leases: [ofA, ofB], history: [] })).toMatchObject({ wait: 90 });
    expect(run({ leases: [{ ...ofA, last: 99 }], history: [] })).toMatchObject({ wait: 90 });
  });

  it('restarts at a database crash only if a lease was granted at that time', () => {
    const crash = (at) => ({ what: 'crash of the database', at });
    expect(run({ leases: [ofA, ofB], history: [crash(55.2)] })).toMatchObject({ wait: 44.8 });
    expect(run({ leases: [ofA, ofB], history: [crash(10.1), crash(50), crash(58)] })).toMatchObject({ wait: 90 });
  });

  it('includes the wait for the first attempt', () => {
    expect(run({ leases: [], history: [], to: 10.5 })).toMatchObject({ wait: 1, from: { at: 9 }, to: { by: 'a' } });
  });
});

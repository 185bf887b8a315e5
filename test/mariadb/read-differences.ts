/** Queries that MariaDB answers differently from PostgreSQL, by title. */
import type { ReadDifference } from '../support/same-reads.ts';

const FRACTIONS: ReadDifference = {
  reason: 'fractions of seconds have as many digits as the column says, also where they are zeros',
  asPostgresql: (answer) => answer.replaceAll(/(T\d\d:\d\d:\d\d)(?:\.000|(\.\d*[1-9])0+)(?=[+"])/g, '$1$2'),
};

export const READ_DIFFERENCES: ReadonlyMap<string, ReadDifference> = new Map<string, ReadDifference>([
  ['values of all types', FRACTIONS],
  ['aggregates', FRACTIONS],
  ['doubles', { reason: 'exponents are written without a plus', asPostgresql: (answer) => answer.replaceAll('-1e20', '-1e+20') }],
  [
    'keys of arrays',
    {
      reason: '`_has_key` and its kin look at the keys of objects, not also at the items of arrays',
      asPostgresql: (answer) => answer.replace('"a":[]', '"a":[{"id":2}]'),
    },
  ],
  [
    'what is wrong in a value',
    {
      reason: 'the service reads texts itself before MariaDB would take them for something else',
      asPostgresql: (answer) => answer.replace('invalid value for', 'invalid input syntax for'),
    },
  ],
]);

import type { Problem } from '../failure.ts';

/** Where something of the document was read. */
export type Place = Pick<Problem, 'file' | 'line' | 'column'>;

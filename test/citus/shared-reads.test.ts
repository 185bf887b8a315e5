import { sameReads } from '../support/same-reads.ts';

sameReads('dbc', new Map());

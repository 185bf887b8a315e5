import { sameWrites } from '../support/same-writes.ts';

sameWrites('dbc', new Map());

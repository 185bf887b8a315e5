import { sameWrites } from '../support/same-writes.ts';
import { DIFFERENCES } from './differences.ts';

sameWrites('dbb', DIFFERENCES);

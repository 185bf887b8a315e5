import { sameReads } from '../support/same-reads.ts';
import { READ_DIFFERENCES } from './read-differences.ts';

sameReads('dbb', READ_DIFFERENCES);

/** Types in groups of rows. */
import type { Grouping } from '../../backend/type-system.ts';
import { isTotal } from './compile/total-types.ts';

export const grouping: Grouping = {
  isKey: isTotal,
};

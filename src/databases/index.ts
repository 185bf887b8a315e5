import type { Backend } from '../backend/backend.ts';
import { pg } from './pg/index.ts';

/** Every database kind that the service knows. */
export const backends: readonly Backend[] = [pg as Backend];

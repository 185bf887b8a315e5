import type { Backend } from '../backend/backend.ts';
import { dbb } from './dbb/index.ts';
import { dbc } from './dbc/index.ts';
import { dwh } from './dwh/index.ts';
import { pg } from './pg/index.ts';

/** Every database kind that the service knows. */
export const backends: readonly Backend[] = [pg as Backend, dbb as Backend, dbc as Backend, dwh as Backend];

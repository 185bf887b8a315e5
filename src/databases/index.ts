import type { Backend } from '../backend/backend.ts';
import { mariadb } from './mariadb/index.ts';
import { citus } from './citus/index.ts';
import { bigquery } from './bigquery/index.ts';
import { postgresql } from './postgresql/index.ts';

/** Every database kind that the service knows. */
export const backends: readonly Backend[] = [postgresql as Backend, mariadb as Backend, citus as Backend, bigquery as Backend];

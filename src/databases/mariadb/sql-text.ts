import type { SqlText } from '../../backend/sql-text.ts';
import { mayChangeCatalog } from '../shared/may-change-catalog.ts';
import { refuseWritable } from './definitions/read-only.ts';

/** How MariaDB reads SQL. Definitions commit implicitly. */
export const sqlText: SqlText = { mayChangeCatalog, requireReads: refuseWritable };

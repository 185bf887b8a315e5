import type { SqlText } from '../../backend/sql-text.ts';
import { mayChangeCatalog } from '../shared/may-change-catalog.ts';
import { refuseWritable } from './definitions/read-only.ts';

/** SQL text of MariaDB. */
export const sqlText: SqlText = { mayChangeCatalog, requireReads: refuseWritable };

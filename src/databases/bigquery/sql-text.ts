import type { SqlText } from '../../backend/sql-text.ts';
import { mayChangeCatalog } from '../shared/may-change-catalog.ts';

/** SQL text of BigQuery. The source tells reads from writes by a dry run. */
export const sqlText: SqlText = { mayChangeCatalog };

import type { Source } from '../backend/backend.ts';
import { MIGRATION_LOCK } from './migrations.ts';
import { statementDeadline } from './statement-deadline.ts';

const FIND = `select to_regnamespace('svc_catalog')::text`;

/** Drops the schema `svc_catalog` with its content. @returns whether it existed */
export async function removeCatalog(database: Source): Promise<boolean> {
  return database.transaction({ isolation: 'read-committed' }, async (connection) => {
    // A longer wait means that the tables are in use.
    const within = statementDeadline();
    // An instance that starts at the same time creates the tables before or after this.
    await connection.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, [], within);
    const found = await connection.query(FIND, [], within);
    if (found.rows[0]?.[0] == null) return false;
    await connection.query('drop schema svc_catalog cascade', [], within);
    return true;
  });
}

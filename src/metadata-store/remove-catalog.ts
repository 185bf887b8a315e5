import type { Source } from '../backend/backend.ts';
import { MIGRATION_LOCK } from './migrations.ts';
import { soon } from './soon.ts';

const FIND = `select to_regnamespace('svc_catalog')::text`;

/** Removes the schema `svc_catalog` with all that is in it. @returns whether there was one */
export async function removeCatalog(database: Source): Promise<boolean> {
  return database.transaction({ isolation: 'read-committed' }, async (connection) => {
    // Longer means that somebody is working in the tables.
    const within = soon();
    // An instance that starts just now makes the tables before or after this.
    await connection.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, [], within);
    const found = await connection.query(FIND, [], within);
    if (found.rows[0]?.[0] == null) return false;
    await connection.query('drop schema svc_catalog cascade', [], within);
    return true;
  });
}

/**
 * The snapshot of a statement as a text: statements with the same text see the same rows of ordinary tables. It has the visible
 * transactions and the start time of the server, because transaction IDs may be reused after a crash. Null on a standby, where rows change
 * with the same IDs.
 */
export const SNAPSHOT_SQL =
  "case when pg_is_in_recovery() then null else concat(pg_current_snapshot(), ' ', extract(epoch from pg_postmaster_start_time())) end";

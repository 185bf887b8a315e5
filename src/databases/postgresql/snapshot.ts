/**
 * What a statement sees, as one text: two statements that see the same text see the same rows of ordinary tables. It names
 * the transactions that are visible, and the start of the server, because a server that crashed may use numbers again.
 * Null on a standby, where rows change under the same numbers.
 */
export const SNAPSHOT_SQL =
  "case when pg_is_in_recovery() then null else concat(pg_current_snapshot(), ' ', extract(epoch from pg_postmaster_start_time())) end";

/** SQL that takes away what later migrations of the catalog add. */

/** Undoes migration 8. */
export const WITHOUT_HISTORY = `drop table svc_catalog.metadata_history_object, svc_catalog.metadata_history;
  alter table svc_catalog.metadata_version drop column history_version, drop column history_since, drop column history_newest`;

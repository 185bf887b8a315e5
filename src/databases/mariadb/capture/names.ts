/** Current time in UTC, as stored in the tables of events. */
export const NOW = 'utc_timestamp(6)';

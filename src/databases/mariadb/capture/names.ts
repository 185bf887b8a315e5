/** Now, in UTC, as the tables of events have times. */
export const NOW = 'utc_timestamp(6)';

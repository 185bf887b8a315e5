/** What statements about events say again and again. */

/** On which listeners hear that there are new events. */
export const CHANNEL = 'svc_event_log';

/** Now, in UTC, as the tables of events have times. */
export const NOW = "(now() at time zone 'utc')";
/** Neither delivered nor given up. */
export const PENDING = 'not delivered and not error and not archived';
/** When an event is to be delivered, or its lease ends: what the indexes of the queue are sorted by. */
export const DUE = 'coalesce(greatest(lease_until, next_retry_at), created_at)';

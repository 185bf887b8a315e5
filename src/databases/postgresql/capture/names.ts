/** Parts of statements on events. */

/** Channel of notifications of new events. */
export const CHANNEL = 'svc_event_log';

/** The current time in UTC, like the times in the tables of events. */
export const NOW = "(now() at time zone 'utc')";
/** Condition for events that are neither delivered nor out of retries. */
export const PENDING = 'not delivered and not error and not archived';
/** Time at which an event is due or its lease ends, by which the indexes of the queue are sorted. */
export const DUE = 'coalesce(greatest(lease_until, next_retry_at), created_at)';

/** Event delivery. */
import { optionsOf } from '../option.ts';
import { boolean, wholeNumber, milliseconds } from '../option-types.ts';

const events = optionsOf('Events');

export const eventOptions = {
  disableEventing: events(
    'disable-eventing',
    boolean,
    false,
    'Deliver no events of event triggers, cron triggers and one-off schedules. Events stay queued for other instances; events of cron triggers are not generated.',
  ),
  eventsHttpPoolSize: events(
    'events-http-pool-size',
    wholeNumber(1, 100_000),
    100,
    'Maximum number of concurrent event deliveries. One trigger uses at most three quarters of them.',
  ),
  eventsFetchInterval: events(
    'events-fetch-interval',
    milliseconds(0),
    1000,
    'Interval for polling a source without queued events, in milliseconds. Sources also notify the service. 0 disables event triggers.',
  ),
  eventsFetchBatchSize: events(
    'events-fetch-batch-size',
    wholeNumber(0, 10_000),
    100,
    'Maximum number of events fetched from a database at once; 0 disables event triggers.',
  ),
  enableTriggersErrorLogLevel: events(
    'enable-triggers-error-log-level',
    boolean,
    false,
    'Log failed deliveries with level error instead of info.',
  ),
} as const;

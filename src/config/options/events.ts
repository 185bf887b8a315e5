/** Deliveries of events. */
import { optionsOf } from '../option.ts';
import { boolean, integer, milliseconds } from '../option-types.ts';

const events = optionsOf('Events');

export const eventOptions = {
  disableEventing: events(
    'disable-eventing',
    boolean,
    false,
    'Deliver no events of event triggers, cron triggers and one-off schedules: they are kept for instances that do, and the events of cron triggers are not made ahead.',
  ),
  eventsHttpPoolSize: events(
    'events-http-pool-size',
    integer(1, 100_000),
    100,
    'Most events that are delivered at a time. One trigger takes three quarters of them at most.',
  ),
  eventsFetchInterval: events(
    'events-fetch-interval',
    milliseconds(0),
    1000,
    'How often to look for events of triggers in a source that had none, besides being told of them; 0 delivers none of event triggers.',
  ),
  eventsFetchBatchSize: events(
    'events-fetch-batch-size',
    integer(0, 10_000),
    100,
    'Most events that are taken from a database at a time; 0 delivers none of event triggers.',
  ),
  enableTriggersErrorLogLevel: events(
    'enable-triggers-error-log-level',
    boolean,
    false,
    'Log deliveries that fail with the level error rather than info.',
  ),
} as const;

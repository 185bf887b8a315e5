/** Event triggers and their logs, cron triggers and one-off events. */
import type { Json, JsonObject } from '../../../src/util/json.ts';
import { BASE, EVENT_ID } from './base.ts';
import { type Case, failure, NO_VERSION } from './case.ts';

const HOOK = 'http://127.0.0.1:9/';
const TRIGGER: JsonObject = {
  name: 'tagged',
  definition: { enable_manual: true, insert: { columns: '*' } },
  webhook: HOOK,
  cleanup_config: { schedule: '0 0 * * *', clear_older_than: 1 },
};
/** @param paused of its clean-up */
const withTrigger = (paused = false): JsonObject => {
  const [source] = BASE['sources'] as [JsonObject];
  const trigger = { ...TRIGGER, cleanup_config: { ...(TRIGGER['cleanup_config'] as JsonObject), paused } };
  const tables = [...(source['tables'] as Json[]), { table: { schema: 'public', name: 'tag' }, event_triggers: [trigger] }];
  return { ...BASE, sources: [{ ...source, tables }] };
};

/** Under every prefix of the kind. */
export const EVENT_TRIGGERS: Readonly<Record<string, Case>> = {
  create_event_trigger: {
    args: { name: 'written', table: 'article', webhook: HOOK, insert: { columns: '*' }, update: { columns: ['title'], payload: ['id'] } },
    from: withTrigger(),
    fails: [
      failure({ name: 'written', table: 'article', webhook: HOOK }, 'parse-failed', '$.args'),
      failure({ name: '1st', table: 'article', webhook: HOOK, enable_manual: true }, 'parse-failed', '$.args.name'),
      failure({ name: 'written', table: 'color', webhook: HOOK, insert: { columns: ['nothing'] } }, 'not-exists', '$.args'),
      failure({ name: 'written', table: 'nothing', webhook: HOOK, enable_manual: true }, 'not-exists', '$.args'),
      failure({ name: 'written', table: 'article', webhook_from_env: 'NOT_SET', enable_manual: true }, 'not-found', '$.args'),
      failure({ name: 'written', table: 'article', webhook: '{{NOT_SET}}', enable_manual: true }, 'not-found', '$.args'),
      failure({ name: 'tagged', table: 'article', webhook: HOOK, enable_manual: true }, 'already-exists', '$.args'),
      failure({ name: 'tagged', table: 'article', webhook: HOOK, enable_manual: true, replace: true }, 'not-supported', '$.args'),
      failure({ name: 'written', table: 'article', webhook: HOOK, enable_manual: true, replace: true }, 'not-exists', '$.args'),
    ],
  },
  delete_event_trigger: {
    args: { name: 'tagged' },
    from: withTrigger(),
    fails: [failure({ name: 'other' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  invoke_event_trigger: {
    args: { name: 'tagged', payload: { id: 1 } },
    from: withTrigger(),
    fails: [
      failure({ name: 'other', payload: 1 }, 'not-exists', '$.args'),
      failure({ name: 'tagged' }, 'parse-failed', '$.args'),
      failure({ name: 'tagged', payload: 1, source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  redeliver_event: {
    args: { event_id: EVENT_ID },
    from: withTrigger(),
    fails: [failure({ event_id: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  redeliver_events: {
    args: { name: 'tagged', status: 'processed' },
    from: withTrigger(),
    fails: [
      failure({ name: 'other' }, 'not-exists', '$.args'),
      failure({ status: 'pending' }, 'parse-failed', '$.args.status'),
      failure({ created_from: 'yesterday at noon or so' }, 'data-exception', '$.args'),
    ],
  },
  get_event_logs: {
    args: { name: 'tagged', status: 'processed' },
    from: withTrigger(),
    fails: [
      failure({ name: 'tagged', status: 'done' }, 'parse-failed', '$.args.status'),
      failure({ name: 'tagged', source: 'nothing' }, 'not-exists', '$.args'),
    ],
  },
  get_event_invocation_logs: {
    args: { name: 'tagged', limit: 1, offset: 1 },
    from: withTrigger(),
    fails: [failure({ name: 'tagged', limit: -1 }, 'parse-failed', '$.args.limit'), failure({}, 'parse-failed', '$.args')],
  },
  get_event_by_id: {
    args: { event_id: EVENT_ID },
    from: withTrigger(),
    fails: [failure({ event_id: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  get_dead_events: {
    args: { created_from: '2024-05-01T00:00:00Z' },
    from: withTrigger(),
    fails: [
      failure({ created_before: 'never' }, 'data-exception', '$.args'),
      failure({ limit: 1_000_000 }, 'parse-failed', '$.args.limit'),
    ],
  },
};

export const SCHEDULES_AND_CLEANUPS: Readonly<Record<string, Case>> = {
  cleanup_event_trigger_logs: {
    args: { event_trigger_name: 'tagged', clear_older_than: 1 },
    from: withTrigger(),
    fails: [
      failure({ event_trigger_name: 'other', clear_older_than: 1 }, 'not-exists', '$.args'),
      failure({ event_trigger_name: 'tagged' }, 'parse-failed', '$.args'),
    ],
  },
  pause_event_trigger_cleanups: {
    args: { event_triggers: [{ source_name: 'default', event_triggers: ['tagged'] }] },
    from: withTrigger(),
    fails: [
      failure({ event_triggers: [{ source_name: 'nothing', event_triggers: [] }] }, 'not-exists', '$.args'),
      failure({ event_triggers: 'tagged' }, 'parse-failed', '$.args.event_triggers'),
    ],
  },
  resume_event_trigger_cleanups: {
    args: { event_triggers: { sources: '*' } },
    from: withTrigger(true),
    fails: [
      failure({ event_triggers: [{ source_name: 'default', event_triggers: ['other'] }] }, 'not-exists', '$.args'),
      failure({ event_triggers: { sources: ['nothing'] } }, 'not-exists', '$.args'),
    ],
  },
  create_cron_trigger: {
    args: { name: 'nightly', webhook: 'http://localhost/x', schedule: '0 3 * * *', include_in_metadata: true },
    fails: [
      failure(
        { name: 'hourly', webhook: 'http://localhost/x', schedule: '0 3 * * *', include_in_metadata: true },
        'already-exists',
        '$.args',
      ),
      failure(
        { name: 'x', webhook: 'http://localhost/x', schedule: '0 3 * *', include_in_metadata: true },
        'parse-failed',
        '$.args.schedule',
      ),
      failure({ name: 'x', webhook: '{{NOT_SET}}', schedule: '0 3 * * *', include_in_metadata: true }, 'invalid-configuration', '$.args'),
    ],
  },
  delete_cron_trigger: {
    args: { name: 'hourly' },
    fails: [failure({ name: 'nothing' }, 'not-exists', '$.args'), failure({}, 'parse-failed', '$.args')],
  },
  get_cron_triggers: { args: {}, fails: [failure('x', 'parse-failed', '$.args'), NO_VERSION] },
  create_scheduled_event: {
    args: { webhook: 'http://localhost/x', schedule_at: '2100-01-01T00:00:00Z' },
    fails: [
      failure({ webhook: 'http://localhost/x', schedule_at: 'tomorrow' }, 'parse-failed', '$.args.schedule_at'),
      failure({ webhook: 'http://localhost/x' }, 'parse-failed', '$.args'),
    ],
  },
  delete_scheduled_event: {
    args: { type: 'one_off', event_id: 'nothing' },
    fails: [failure({ type: 'x', event_id: 'y' }, 'parse-failed', '$.args.type'), failure({ type: 'cron' }, 'parse-failed', '$.args')],
  },
  get_scheduled_events: {
    args: { type: 'cron', trigger_name: 'hourly' },
    fails: [
      failure({ type: 'cron', trigger_name: 'nothing' }, 'not-exists', '$.args'),
      failure({ type: 'cron' }, 'parse-failed', '$.args'),
      failure({ type: 'one_off', status: ['x'] }, 'parse-failed', '$.args.status[0]'),
    ],
  },
  get_scheduled_event_invocations: {
    args: { type: 'one_off' },
    fails: [
      failure({ type: 'cron', trigger_name: 'nothing' }, 'not-exists', '$.args'),
      failure({ type: 'one_off', limit: -1 }, 'parse-failed', '$.args.limit'),
    ],
  },
};

/** Operations on events of cron triggers and on one-off events. */
import { randomUUID } from 'node:crypto';
import {
  anyJson,
  bool,
  type Codec,
  nonNegativeInt,
  defaulted,
  leaf,
  list,
  literal,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from '../../metadata/codec.ts';
import { scheduledRetry, scheduledRetryCodec } from '../../metadata/cron-trigger.ts';
import { addressTemplateProblem } from '../../metadata/called-address.ts';
import { headerProblem, headersCodec, webhookHeaders } from '../../metadata/environment-template.ts';
import { signatureCodec } from '../../metadata/signature.ts';
import { MAX_LISTED_BYTES } from '../../sql/within-bytes.ts';
import {
  type EventsOf,
  MAX_LISTED_EVENTS,
  SCHEDULED_STATUSES,
  type ScheduledStatus,
  type EventRows,
} from '../../metadata-store/scheduled-events.ts';
import { isoTime } from '../../util/iso-time.ts';
import type { Json } from '../../util/json.ts';
import { along, at } from '../../util/path.ts';
import { operation, type OperationContext, type OperationGroup, SUCCESS } from '../operation.ts';
import { refused } from '../operation-error.ts';
import { unknownTrigger } from './cron-triggers.ts';

const time: Codec<string> = leaf(
  'UTCTime',
  (json, path) => {
    const value = text.decode(json, path);
    const found = isoTime(value);
    if (found !== undefined) return found;
    throw parseFailed(`expecting a time as in ISO 8601, such as 2024-05-01T10:00:00Z, but found ${JSON.stringify(value)}`, path);
  },
  (value) => value,
  {
    description:
      'An ISO 8601 time, `2024-05-01T10:00:00Z` or `20240501T100000Z`. The default zone is UTC, the default time of day midnight.',
  },
);

const type = required(literal('ScheduledEventType', ['cron', 'one_off']));
const status: Codec<ScheduledStatus> = leaf(
  'ScheduledEventStatus',
  (json, path) => {
    const value = text.decode(json, path);
    const found = SCHEDULED_STATUSES.find((each) => each === value);
    if (found === undefined) throw parseFailed(`unexpected status: ${value}`, path);
    return found;
  },
  (value) => value,
  { values: SCHEDULED_STATUSES },
);
const page = {
  limit: optional(nonNegativeInt('limit')),
  offset: defaulted(nonNegativeInt('offset'), () => 0),
  getRowsCount: defaulted(bool, () => false),
};

/** @throws SvcError parse-failed, not-exists */
function eventsOf(of: 'cron' | 'one_off', trigger: string | undefined, { snapshot, path }: OperationContext): EventsOf {
  if (of === 'one_off') {
    if (trigger !== undefined) throw parseFailed('one-off events have no trigger', at(path, 'trigger_name'));
    return { type: of };
  }
  if (trigger === undefined) throw parseFailed("the key 'trigger_name' was not present", path);
  if (!snapshot.metadata.cronTriggers.has(trigger)) throw unknownTrigger(trigger);
  return { type: of, trigger };
}

const BOUND = `An answer has at most ${MAX_LISTED_EVENTS} rows and ${MAX_LISTED_BYTES / 2 ** 20} MiB, and \`is_cut: true\` if there are more.`;

function answerOf(key: string, { rows, count: all, isTruncated }: EventRows): Json {
  return { [key]: rows, ...(all === undefined ? {} : { count: all }), ...(isTruncated ? { is_cut: true } : {}) };
}

const create: OperationGroup = () => [
  operation({
    type: 'create_scheduled_event',
    args: object('CreateScheduledEvent', {
      webhook: required(nonEmptyText),
      scheduleAt: required(time),
      payload: optional(anyJson),
      headers: webhookHeaders,
      retryConf: scheduledRetry,
      comment: optional(text),
      signature: optional(signatureCodec),
    }),
    changes: 'database',
    errors: [],
    documentation: {
      summary:
        'Schedules a single call of a webhook. Environment variables are resolved at the time of the call. An event whose time has passed by more than `tolerance_seconds` of `retry_conf` (default: 6 hours) is never delivered, and gets the status `dead` at once. A date without a time is midnight in UTC.',
      example: {
        webhook: '{{HOOKS}}/remind',
        schedule_at: '2030-01-01T09:00:00Z',
        payload: { user: 7 },
        headers: [{ name: 'X-Key', value_from_env: 'HOOK_KEY' }],
        retry_conf: { num_retries: 3, retry_interval_seconds: 30, timeout_seconds: 60, tolerance_seconds: 3600 },
        comment: 'a reminder',
      },
    },
    async run({ webhook, scheduleAt, payload = null, headers, retryConf, comment, signature }, { services, path }) {
      const unusable = addressTemplateProblem('webhook', webhook);
      if (unusable !== null) throw parseFailed(unusable, at(path, 'webhook'));
      for (const [i, { name, value = '' }] of headers.entries()) {
        const problem = headerProblem(name, value);
        if (problem !== null) throw parseFailed(problem, along(path, 'headers', i));
      }
      const id = randomUUID();
      await services.scheduledEvents.create({
        id,
        webhook,
        scheduledTime: scheduleAt,
        payload,
        retryConf: scheduledRetryCodec.encode(retryConf),
        headers: headersCodec.encode(headers),
        comment: comment ?? null,
        signature: signature === undefined ? null : signatureCodec.encode(signature),
      });
      return { message: 'success', event_id: id };
    },
  }),
];

const remove: OperationGroup = () => [
  operation({
    type: 'delete_scheduled_event',
    args: object('DeleteScheduledEvent', { type, eventId: required(nonEmptyText) }),
    changes: 'database',
    errors: [],
    documentation: {
      summary: 'Deletes a one-off event or an event of a cron trigger, with its invocations. Succeeds if the event does not exist.',
      example: { type: 'one_off', event_id: 'f0b1a6e4-5a4b-4a33-8f0c-0f8f4a7d7a10' },
    },
    async run({ type: of, eventId }, { services }) {
      await services.scheduledEvents.delete(of, eventId);
      return SUCCESS;
    },
  }),
];

const events = object('GetScheduledEvents', {
  type,
  triggerName: optional(nonEmptyText),
  status: defaulted<readonly ScheduledStatus[]>(list(status), () => []),
  ...page,
});

const get: OperationGroup = () => [
  operation({
    type: 'get_scheduled_events',
    args: events,
    changes: 'nothing',
    errors: [refused('not-exists', 'the cron trigger does not exist')],
    documentation: {
      summary: `Lists one-off events or the events of a cron trigger, by scheduled time; with \`get_rows_count\`, also their number. ${BOUND}`,
      example: { type: 'cron', trigger_name: 'nightly', status: ['scheduled', 'error'], limit: 10, get_rows_count: true },
    },
    async run({ type: of, triggerName, status: statuses, limit, offset, getRowsCount }, context) {
      const selected = eventsOf(of, triggerName, context);
      return answerOf('events', await context.services.scheduledEvents.list(selected, statuses, { limit, offset, count: getRowsCount }));
    },
  }),
];

const invocations: OperationGroup = () => [
  operation({
    type: 'get_scheduled_event_invocations',
    args: object('GetScheduledEventInvocations', { type, triggerName: optional(nonEmptyText), eventId: optional(nonEmptyText), ...page }),
    changes: 'nothing',
    errors: [refused('not-exists', 'the cron trigger does not exist')],
    documentation: {
      summary: `Lists delivery attempts, newest first: of one event, of a cron trigger, or of all one-off events. ${BOUND}`,
      example: { type: 'cron', trigger_name: 'nightly', limit: 10 },
    },
    async run({ type: of, triggerName, eventId, limit, offset, getRowsCount }, context) {
      const selected = eventsOf(of, triggerName, context);
      return answerOf(
        'invocations',
        await context.services.scheduledEvents.invocations(selected, eventId, { limit, offset, count: getRowsCount }),
      );
    },
  }),
];

export const scheduledEventOperations: readonly OperationGroup[] = [create, remove, get, invocations];

/** Events of cron triggers, and events that are scheduled one by one. */
import { randomUUID } from 'node:crypto';
import {
  anyJson,
  bool,
  type Codec,
  count,
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
import { templateComplaint } from '../../metadata/called-address.ts';
import { headerComplaint, headersCodec, webhookHeaders } from '../../metadata/environment-template.ts';
import { signatureCodec } from '../../metadata/signature.ts';
import { MOST_LISTED_BYTES } from '../../sql/within-bytes.ts';
import {
  type EventsOf,
  MOST_LISTED,
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
    says: 'A time as ISO 8601 writes it, `2024-05-01T10:00:00Z` or `20240501T100000Z`; in UTC without a zone, at midnight without a time.',
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
const slice = { limit: optional(count('limit')), offset: defaulted(count('offset'), () => 0), getRowsCount: defaulted(bool, () => false) };

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

const BOUND = `At most ${MOST_LISTED} rows and ${MOST_LISTED_BYTES / 2 ** 20} MiB are told at a time, with \`is_cut: true\` where there are more.`;

function answerOf(key: string, { rows, count: all, isCut }: EventRows): Json {
  return { [key]: rows, ...(all === undefined ? {} : { count: all }), ...(isCut ? { is_cut: true } : {}) };
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
        'Calls a webhook once, at a time. Environment variables are looked up when it is called. An event whose time is past by more than `tolerance_seconds` of `retry_conf` (6 hours by default) is never delivered: its status is `dead` at once. A date without a time is midnight in UTC.',
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
      const unusable = templateComplaint('webhook', webhook);
      if (unusable !== null) throw parseFailed(unusable, at(path, 'webhook'));
      for (const [i, { name, value = '' }] of headers.entries()) {
        const complaint = headerComplaint(name, value);
        if (complaint !== null) throw parseFailed(complaint, along(path, 'headers', i));
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
      summary: 'Removes a one-off event, or one of a cron trigger, with its invocations, if it is there.',
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
  ...slice,
});

const get: OperationGroup = () => [
  operation({
    type: 'get_scheduled_events',
    args: events,
    changes: 'nothing',
    errors: [refused('not-exists', 'there is no cron trigger of this name')],
    documentation: {
      summary:
        'Lists one-off events, or those of a cron trigger, in the order of their times; with how many there are when `get_rows_count` is true. ' +
        BOUND,
      example: { type: 'cron', trigger_name: 'nightly', status: ['scheduled', 'error'], limit: 10, get_rows_count: true },
    },
    async run({ type: of, triggerName, status: statuses, limit, offset, getRowsCount }, context) {
      const wanted = eventsOf(of, triggerName, context);
      return answerOf('events', await context.services.scheduledEvents.list(wanted, statuses, { limit, offset, count: getRowsCount }));
    },
  }),
];

const invocations: OperationGroup = () => [
  operation({
    type: 'get_scheduled_event_invocations',
    args: object('GetScheduledEventInvocations', { type, triggerName: optional(nonEmptyText), eventId: optional(nonEmptyText), ...slice }),
    changes: 'nothing',
    errors: [refused('not-exists', 'there is no cron trigger of this name')],
    documentation: {
      summary: `Lists attempts to deliver scheduled events, of one event, of a cron trigger, or of all one-off events, the newest first. ${BOUND}`,
      example: { type: 'cron', trigger_name: 'nightly', limit: 10 },
    },
    async run({ type: of, triggerName, eventId, limit, offset, getRowsCount }, context) {
      const wanted = eventsOf(of, triggerName, context);
      return answerOf(
        'invocations',
        await context.services.scheduledEvents.invocations(wanted, eventId, { limit, offset, count: getRowsCount }),
      );
    },
  }),
];

export const scheduledEventOperations: readonly OperationGroup[] = [create, remove, get, invocations];

/** The log of events: what was captured, what came of it, and delivering it again. */
import type { Backend } from '../../backend/backend.ts';
import type { EventFilter } from '../../backend/captures.ts';
import { SvcError } from '../../errors/svc-error.ts';
import {
  bool,
  type Codec,
  count,
  defaulted,
  leaf,
  literal,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from '../../metadata/codec.ts';
import { MOST_LISTED_BYTES } from '../../sql/within-bytes.ts';
import { define, type OperationGroup, perKind, SUCCESS } from '../operation.ts';
import { databaseErrors, type OperationErrors, refused, SOURCE_ERRORS } from '../operation-error.ts';
import { sourceArgument, targetSource } from '../target.ts';
import { hasEventTriggers, NO_TRIGGER, noSuchTrigger, ownerOfTrigger, requireCaptures } from './event-triggers.ts';

const DEFAULT_LIMIT = 100;
/** Rows hold whole payloads. */
const MOST_ROWS = 10_000;

const limit = defaulted(count('limit', MOST_ROWS), () => DEFAULT_LIMIT);
const offset = defaulted(count('offset'), () => 0);

const status: Codec<'pending' | 'processed'> = leaf(
  'EventLogStatus',
  (json, path) => {
    const value = text.decode(json, path);
    if (value === 'pending' || value === 'processed') return value;
    throw parseFailed('event logs status can only be one of the following: processed or pending', path);
  },
  (value) => value,
  { values: ['pending', 'processed'] },
);

const errors = (backend: Backend): OperationErrors => [...SOURCE_ERRORS, ...databaseErrors(backend)];
const listErrors = (backend: Backend): OperationErrors => [
  ...errors(backend),
  refused('bad-request', `the rows have more than ${MOST_LISTED_BYTES / 2 ** 20} MiB: the limit is to be lower`),
];
const BAD_TIME = refused('data-exception', 'a time cannot be read');

const getLogs = perKind('get_event_logs', hasEventTriggers, (backend) =>
  define({
    args: object('GetEventLogs', { name: required(nonEmptyText), source: sourceArgument, limit, offset, status: optional(status) }),
    changes: 'nothing',
    errors: listErrors(backend),
    documentation: {
      summary: 'Lists the events of a trigger, newest first; with a status only those that are `pending` or `processed`.',
      example: { source: 'default', name: 'article_changed', limit: 10, status: 'processed' },
    },
    async run({ name, source, status: wanted, ...page }, context) {
      const state: EventFilter['state'] = wanted ?? 'any';
      const captures = requireCaptures(source, backend, context);
      return captures.list({ trigger: name, state, archived: state === 'any' }, page);
    },
  }),
);

const getInvocations = perKind('get_event_invocation_logs', hasEventTriggers, (backend) =>
  define({
    args: object('GetEventInvocationLogs', { name: required(nonEmptyText), source: sourceArgument, limit, offset }),
    changes: 'nothing',
    errors: listErrors(backend),
    documentation: {
      summary: 'Lists the attempts to deliver events of a trigger, newest first.',
      example: { source: 'default', name: 'article_changed' },
    },
    run: ({ name, source, ...page }, context) => requireCaptures(source, backend, context).invocations(name, page),
  }),
);

const getEvent = perKind('get_event_by_id', hasEventTriggers, (backend) =>
  define({
    args: object('GetEventById', {
      eventId: required(nonEmptyText),
      source: sourceArgument,
      invocationLogLimit: limit,
      invocationLogOffset: offset,
    }),
    changes: 'nothing',
    errors: [...listErrors(backend), refused('not-exists', 'there is no event of this id')],
    documentation: {
      summary: 'Gives an event with the attempts to deliver it.',
      example: { source: 'default', event_id: 'c9d5c4fc-1a3c-4fb1-9a0a-2e6bd8a3a1a7' },
    },
    async run({ eventId, source, invocationLogLimit, invocationLogOffset }, context) {
      const page = { limit: invocationLogLimit, offset: invocationLogOffset };
      const found = await requireCaptures(source, backend, context).event(eventId, page);
      if (found === null) throw new SvcError('not-exists', `event id ${eventId} does not exist`);
      return { event: found.event, invocations: found.invocations };
    },
  }),
);

const redeliver = perKind('redeliver_event', hasEventTriggers, (backend) =>
  define({
    args: object('RedeliverEventQuery', { eventId: required(nonEmptyText), source: sourceArgument }),
    changes: 'database',
    errors: [
      ...errors(backend),
      refused('not-exists', 'there is no event of this id'),
      refused('busy', 'the event is being delivered just now'),
    ],
    documentation: {
      summary: 'Delivers an event again, whatever came of it before.',
      example: { source: 'default', event_id: 'c9d5c4fc-1a3c-4fb1-9a0a-2e6bd8a3a1a7' },
    },
    async run({ eventId, source }, context) {
      switch (await requireCaptures(source, backend, context).redeliver(eventId)) {
        case 'missing':
          throw new SvcError('not-exists', 'event not found');
        case 'processing':
          throw new SvcError('busy', 'event is already being processed');
        case 'done':
          return SUCCESS;
      }
    },
  }),
);

/** Of events that several operations choose. */
const filterFields = {
  name: optional(nonEmptyText),
  source: sourceArgument,
  createdFrom: optional(nonEmptyText),
  createdBefore: optional(nonEmptyText),
};

function filterOf(
  {
    name,
    createdFrom,
    createdBefore,
  }: { readonly name?: string | undefined; readonly createdFrom?: string | undefined; readonly createdBefore?: string | undefined },
  state: EventFilter['state'],
): EventFilter {
  return {
    state,
    ...(name === undefined ? {} : { trigger: name }),
    ...(createdFrom === undefined ? {} : { from: createdFrom }),
    ...(createdBefore === undefined ? {} : { to: createdBefore }),
  };
}

const getDead = perKind('get_dead_events', hasEventTriggers, (backend) =>
  define({
    args: object('GetDeadEvents', { ...filterFields, limit, offset, onlyCount: defaulted(bool, () => false) }),
    changes: 'nothing',
    errors: [...listErrors(backend), BAD_TIME],
    documentation: {
      summary:
        'Counts and lists the events that ran out of retries, newest first: of one trigger or of all, made in a range of time or at any.',
      example: { source: 'default', name: 'article_changed', created_from: '2024-05-01T00:00:00Z' },
    },
    async run({ source, limit: most, offset: from, onlyCount, ...args }, context) {
      const captures = requireCaptures(source, backend, context);
      const filter = filterOf(args, 'error');
      const count = await captures.count(filter);
      return { count, events: onlyCount ? [] : await captures.list(filter, { limit: most, offset: from }) };
    },
  }),
);

const redeliverAll = perKind('redeliver_events', hasEventTriggers, (backend) =>
  define({
    args: object('RedeliverEvents', {
      ...filterFields,
      status: defaulted(literal('EventStatus', ['error', 'delivered', 'processed']), () => 'error' as const),
      limit: optional(count('limit')),
    }),
    changes: 'database',
    errors: [...errors(backend), NO_TRIGGER, BAD_TIME],
    documentation: {
      summary:
        'Delivers many events again, the oldest first, and gives their number: those that ran out of retries, or with another status those that were delivered, or both.',
      example: { source: 'default', name: 'article_changed', status: 'error', created_before: '2024-05-02T00:00:00Z' },
    },
    async run({ source, status: state, limit: most, ...args }, context) {
      const captures = requireCaptures(source, backend, context);
      const { name } = args;
      // A misspelt name would look like nothing left to deliver.
      if (
        name !== undefined &&
        ownerOfTrigger(targetSource(context.snapshot.metadata, source, backend, context.snapshot), name) === undefined
      )
        throw noSuchTrigger(name);
      const count = await captures.redeliverAll(filterOf(args, state), most ?? null);
      return { count };
    },
  }),
);

export const eventLogOperations: readonly OperationGroup[] = [getLogs, getInvocations, getEvent, getDead, redeliver, redeliverAll];

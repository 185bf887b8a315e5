/** Operations on the event log: lists events and delivery attempts, and delivers events again. */
import type { Backend } from '../../backend/backend.ts';
import { type EventCounts, type EventFilter, MAX_COUNTED, type Page } from '../../backend/captures.ts';
import { describeFailure } from '../../errors/describe-failure.ts';
import { SvcError } from '../../errors/svc-error.ts';
import {
  bool,
  type Codec,
  nonNegativeInt,
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
import type { JsonObject } from '../../util/json.ts';
import { MAX_LISTED_BYTES } from '../../sql/within-bytes.ts';
import { define, operation, type OperationContext, type OperationGroup, perKind, SUCCESS } from '../operation.ts';
import { databaseErrors, type OperationErrors, refused, SOURCE_ERRORS } from '../operation-error.ts';
import { sourceArgument, targetSource } from '../target.ts';
import { hasEventTriggers, NO_TRIGGER, noSuchTrigger, ownerOfTrigger, requireCaptures } from './event-triggers.ts';

const DEFAULT_LIMIT = 100;
/** Maximum of `limit`: rows have whole payloads. */
const MAX_ROWS = 10_000;

const limit = defaulted(nonNegativeInt('limit', MAX_ROWS), () => DEFAULT_LIMIT);
const offset = defaulted(nonNegativeInt('offset'), () => 0);

const STATUSES = ['pending', 'processed', 'delivered', 'error'] as const;
type Status = (typeof STATUSES)[number];

const status: Codec<Status> = leaf<Status>(
  'EventLogStatus',
  (json, path) => {
    const value = text.decode(json, path);
    const found = STATUSES.find((each) => each === value);
    if (found !== undefined) return found;
    throw parseFailed('event logs status can only be one of the following: processed or pending, delivered or error', path);
  },
  (value) => value,
  { values: STATUSES },
);

const errors = (backend: Backend): OperationErrors => [...SOURCE_ERRORS, ...databaseErrors(backend)];
const listErrors = (backend: Backend): OperationErrors => [
  ...errors(backend),
  refused('bad-request', `the rows have more than ${MAX_LISTED_BYTES / 2 ** 20} MiB: use a lower \`limit\``),
];
const NO_CURSOR = refused('not-exists', 'the list has no row with the id `after`');

interface PageArguments {
  readonly limit: number;
  readonly offset: number;
  readonly after?: string | undefined;
}

function pageOf({ after, ...page }: PageArguments): Page {
  return after === undefined ? page : { ...page, after };
}

const BAD_TIME = refused('data-exception', 'a time is invalid');

const getLogs = perKind('get_event_logs', hasEventTriggers, (backend) =>
  define({
    args: object('GetEventLogs', {
      name: required(nonEmptyText),
      source: sourceArgument,
      limit,
      offset,
      after: optional(nonEmptyText),
      status: optional(status),
      since: optional(nonEmptyText),
      until: optional(nonEmptyText),
    }),
    changes: 'nothing',
    errors: [...listErrors(backend), BAD_TIME, NO_CURSOR],
    documentation: {
      summary:
        'Lists the events of a trigger, newest first. `status` selects those that are `pending`, `processed`, `delivered` or failed (`error`); `since` and `until` select a range of creation times. With `after`, the id of an event, the list starts after that event, so that pages do not shift when new events arrive.',
      example: { source: 'default', name: 'article_changed', limit: 10, status: 'processed' },
    },
    async run({ name, source, status: selected, since, until, ...page }, context) {
      const state: EventFilter['state'] = selected ?? 'any';
      const captures = requireCaptures(source, backend, context);
      const times = { ...(since === undefined ? {} : { from: since }), ...(until === undefined ? {} : { to: until }) };
      return captures.list({ trigger: name, state, archived: state === 'any', ...times }, pageOf(page));
    },
  }),
);

const getInvocations = perKind('get_event_invocation_logs', hasEventTriggers, (backend) =>
  define({
    args: object('GetEventInvocationLogs', {
      name: required(nonEmptyText),
      source: sourceArgument,
      limit,
      offset,
      after: optional(nonEmptyText),
    }),
    changes: 'nothing',
    errors: [...listErrors(backend), NO_CURSOR],
    documentation: {
      summary:
        'Lists the delivery attempts of a trigger, newest first. With `after`, the id of an attempt, the list starts after that attempt.',
      example: { source: 'default', name: 'article_changed' },
    },
    run: ({ name, source, ...page }, context) => requireCaptures(source, backend, context).invocations(name, pageOf(page)),
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
    errors: [...listErrors(backend), refused('not-exists', 'the event does not exist')],
    documentation: {
      summary: 'Returns an event with its delivery attempts.',
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
    args: object('RedeliverEventQuery', { eventId: required(nonEmptyText), source: optional(nonEmptyText) }),
    changes: 'database',
    errors: [
      ...errors(backend),
      refused('not-exists', 'the event does not exist'),
      refused('busy', 'the event is being delivered at the moment'),
    ],
    documentation: {
      summary: 'Delivers an event again, whatever its status. Without `source`, the event is searched in all sources of the kind.',
      example: { source: 'default', event_id: 'c9d5c4fc-1a3c-4fb1-9a0a-2e6bd8a3a1a7' },
    },
    async run({ eventId, source }, context) {
      switch (await redeliverFrom(source, eventId, backend, context)) {
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

/** @param source `undefined` to try every source of the kind @throws SvcError of a source that failed, if no other one has the event */
async function redeliverFrom(
  source: string | undefined,
  eventId: string,
  backend: Backend,
  context: OperationContext,
): Promise<'done' | 'missing' | 'processing'> {
  if (source !== undefined) return requireCaptures(source, backend, context).redeliver(eventId);
  const { metadata } = context.snapshot;
  let failure: unknown;
  for (const { name, kind } of metadata.sources.values()) {
    if (kind !== backend.kind) continue;
    try {
      const found = await requireCaptures(name, backend, context).redeliver(eventId);
      if (found !== 'missing') return found;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return 'missing';
}

/** Arguments that select events in several operations. */
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
        'Counts and lists the events that failed after all retries (dead letter queue), newest first: of one trigger or of all, optionally in a range of creation times.',
      example: { source: 'default', name: 'article_changed', created_from: '2024-05-01T00:00:00Z' },
    },
    async run({ source, limit: maxRows, offset: from, onlyCount, ...args }, context) {
      const captures = requireCaptures(source, backend, context);
      const filter = filterOf(args, 'error');
      const count = await captures.count(filter);
      return { count, events: onlyCount ? [] : await captures.list(filter, { limit: maxRows, offset: from }) };
    },
  }),
);

const redeliverAll = perKind('redeliver_events', hasEventTriggers, (backend) =>
  define({
    args: object('RedeliverEvents', {
      ...filterFields,
      status: defaulted(literal('EventStatus', ['error', 'delivered', 'processed']), () => 'error' as const),
      limit: optional(nonNegativeInt('limit')),
    }),
    changes: 'database',
    errors: [...errors(backend), NO_TRIGGER, BAD_TIME],
    documentation: {
      summary:
        'Delivers many events again, oldest first, and returns their number. `status` selects those that failed after all retries (`error`), that were `delivered`, or both (`processed`).',
      example: { source: 'default', name: 'article_changed', status: 'error', created_before: '2024-05-02T00:00:00Z' },
    },
    async run({ source, status: state, limit: maxEvents, ...args }, context) {
      const captures = requireCaptures(source, backend, context);
      const { name } = args;
      // Without this error, a misspelt name would look like a trigger without events.
      if (
        name !== undefined &&
        ownerOfTrigger(targetSource(context.snapshot.metadata, source, backend, context.snapshot), name) === undefined
      )
        throw noSuchTrigger(name);
      const count = await captures.redeliverAll(filterOf(args, state), maxEvents ?? null);
      return { count };
    },
  }),
);

const DAY_MS = 86_400_000;

const time: Codec<string> = leaf(
  'UTCTime',
  (json, path) => {
    const value = text.decode(json, path);
    if (!Number.isNaN(Date.parse(value))) return new Date(value).toISOString();
    throw parseFailed(`expected a time such as 2024-05-01T10:00:00Z, but found ${JSON.stringify(value)}`, path);
  },
  (value) => value,
  { description: 'A time in ISO 8601.' },
);

const getSummary: OperationGroup = (backends) => [
  operation({
    type: 'get_event_summary',
    args: object('GetEventSummary', { since: optional(time) }),
    changes: 'nothing',
    errors: [],
    documentation: {
      summary: `Counts the events of every event trigger: \`delivered\` and \`failed\` ones created \`since\` a time (default: one day ago), and \`pending\` ones with the time of the oldest. Each count is at most ${MAX_COUNTED}. A trigger whose source does not respond has an \`error\` instead.`,
      example: { since: '2024-05-01T00:00:00Z' },
    },
    async run({ since = new Date(Date.now() - DAY_MS).toISOString() }, { snapshot }) {
      const perSource = await Promise.all(
        [...snapshot.metadata.sources.values()].map(async ({ name: source, kind, tables }): Promise<readonly JsonObject[]> => {
          const triggers = [...tables.values()].flatMap(({ table, eventTriggers }) =>
            [...eventTriggers.keys()].map((name) => ({ name, table })),
          );
          if (triggers.length === 0) return [];
          const tableName = backends.find((backend) => backend.kind === kind)?.tableName;
          const head = triggers.map(({ name, table }): JsonObject => ({ name, source, table: tableName?.encode(table) ?? table.name }));
          const captures = snapshot.connections.get(source)?.captures;
          if (captures === undefined) return head.map((each) => ({ ...each, error: `the source "${source}" is not available` }));
          try {
            const counts = await captures.summary(
              triggers.map(({ name }) => name),
              since,
            );
            return head.map((each) => ({ ...each, ...encodeCounts(counts.get(String(each['name']))) }));
          } catch (error) {
            return head.map((each) => ({ ...each, error: describeFailure(error) }));
          }
        }),
      );
      return { since, event_triggers: perSource.flat() };
    },
  }),
];

function encodeCounts({ delivered, failed, pending, oldestPending }: EventCounts = NO_EVENTS): JsonObject {
  return { delivered, failed, pending, oldest_pending: oldestPending };
}

const NO_EVENTS: EventCounts = { delivered: 0, failed: 0, pending: 0, oldestPending: null };

export const eventLogOperations: readonly OperationGroup[] = [
  getSummary,
  getLogs,
  getInvocations,
  getEvent,
  getDead,
  redeliver,
  redeliverAll,
];

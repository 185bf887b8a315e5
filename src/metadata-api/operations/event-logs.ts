/** The log of events: what was captured, what came of it, and delivering it again. */
import type { Backend } from '../../backend/backend.ts';
import { type EventCounts, type EventFilter, MOST_COUNTED, type Page } from '../../backend/captures.ts';
import { describeFailure } from '../../errors/describe-failure.ts';
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
import type { JsonObject } from '../../util/json.ts';
import { MOST_LISTED_BYTES } from '../../sql/within-bytes.ts';
import { define, operation, type OperationContext, type OperationGroup, perKind, SUCCESS } from '../operation.ts';
import { databaseErrors, type OperationErrors, refused, SOURCE_ERRORS } from '../operation-error.ts';
import { sourceArgument, targetSource } from '../target.ts';
import { hasEventTriggers, NO_TRIGGER, noSuchTrigger, ownerOfTrigger, requireCaptures } from './event-triggers.ts';

const DEFAULT_LIMIT = 100;
/** Rows hold whole payloads. */
const MOST_ROWS = 10_000;

const limit = defaulted(count('limit', MOST_ROWS), () => DEFAULT_LIMIT);
const offset = defaulted(count('offset'), () => 0);

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
  refused('bad-request', `the rows have more than ${MOST_LISTED_BYTES / 2 ** 20} MiB: the limit is to be lower`),
];
const NO_CURSOR = refused('not-exists', 'the list has no row of the id `after`');

interface GivenPage {
  readonly limit: number;
  readonly offset: number;
  readonly after?: string | undefined;
}

function pageOf({ after, ...page }: GivenPage): Page {
  return after === undefined ? page : { ...page, after };
}

const BAD_TIME = refused('data-exception', 'a time cannot be read');

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
        'Lists the events of a trigger, newest first; with a status only those that are `pending`, `processed`, `delivered` or failed (`error`), with times those made `since` one and before the other (`until`). With `after`, the id of an event, the list goes on behind it: pages stay what they are while events come.',
      example: { source: 'default', name: 'article_changed', limit: 10, status: 'processed' },
    },
    async run({ name, source, status: wanted, since, until, ...page }, context) {
      const state: EventFilter['state'] = wanted ?? 'any';
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
      summary: 'Lists the attempts to deliver events of a trigger, newest first; with `after`, the id of one, those behind it.',
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
    args: object('RedeliverEventQuery', { eventId: required(nonEmptyText), source: optional(nonEmptyText) }),
    changes: 'database',
    errors: [
      ...errors(backend),
      refused('not-exists', 'there is no event of this id'),
      refused('busy', 'the event is being delivered just now'),
    ],
    documentation: {
      summary: 'Delivers an event again, whatever came of it before. Without a source it is looked for in all sources of the kind.',
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

/** @param source undefined: every source of the kind is tried @throws SvcError of a source that failed where no other one has the event */
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

const DAY_MS = 86_400_000;

const time: Codec<string> = leaf(
  'UTCTime',
  (json, path) => {
    const value = text.decode(json, path);
    if (!Number.isNaN(Date.parse(value))) return new Date(value).toISOString();
    throw parseFailed(`expected a time such as 2024-05-01T10:00:00Z, but found ${JSON.stringify(value)}`, path);
  },
  (value) => value,
  { says: 'A time in ISO 8601.' },
);

const getSummary: OperationGroup = (backends) => [
  operation({
    type: 'get_event_summary',
    args: object('GetEventSummary', { since: optional(time) }),
    changes: 'nothing',
    errors: [],
    documentation: {
      summary: `Counts the events of every event trigger: those that were \`delivered\` and that \`failed\` of all made \`since\` a time, by default a day ago, and those that are \`pending\`, with the time of the oldest. Of each at most ${MOST_COUNTED} are counted. A trigger whose source does not answer has an \`error\` in their place.`,
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
          if (captures === undefined) return head.map((each) => ({ ...each, error: `the source "${source}" cannot be used` }));
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

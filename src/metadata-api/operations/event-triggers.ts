/** Operations on event triggers, and manual invocation. */
import { nameKey } from '../../catalog/catalog.ts';
import type { Backend, Source } from '../../backend/backend.ts';
import type { Captures } from '../../backend/captures.ts';
import { invariant, SvcError } from '../../errors/svc-error.ts';
import { anyJson, bool, type Codec, defaulted, type Decoded, leaf, like, nonEmptyText, object, required } from '../../metadata/codec.ts';
import { updateTable, withEntry, withoutEntry } from '../../metadata/edit.ts';
import { type EventTrigger, eventTriggerFields, eventTriggerOf } from '../../metadata/event-trigger.ts';
import { requireTable } from '../../metadata/lookup.ts';
import type { Metadata, SourceMetadata } from '../../metadata/metadata.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { traceContextOf } from '../../webhooks/trace-context.ts';
import type { Json } from '../../util/json.ts';
import { define, type OperationContext, type OperationGroup, perKind, SUCCESS } from '../operation.ts';
import { BREAKS_OTHERS, databaseErrors, INCONSISTENT, refused, SOURCE_ERRORS, TABLE_ERRORS } from '../operation-error.ts';
import { requireTransforms } from '../require-transforms.ts';
import { requireOpenSource, sourceArgument, targetSource } from '../target.ts';

export const hasEventTriggers = (backend: Backend): boolean => backend.capabilities.eventTriggers;

export const NO_TRIGGER = refused('not-exists', 'the event trigger does not exist in the source');

/** Returns the event trigger support of an open source. @throws SvcError as `requireOpenSource` */
export function requireCaptures(name: string, backend: Backend, { snapshot }: Pick<OperationContext, 'snapshot'>): Captures {
  const { captures }: Source = requireOpenSource(name, backend, snapshot);
  invariant(captures !== undefined, 'a kind with event triggers has captures');
  return captures;
}

export function noSuchTrigger(name: string): SvcError {
  return new SvcError('not-exists', `event trigger "${name}" does not exist`);
}

/** Finds the table that has the trigger. @returns the `nameKey` of the table, the table and the trigger */
export function ownerOfTrigger({ tables }: SourceMetadata, name: string): readonly [string, TableMetadata, EventTrigger] | undefined {
  for (const [key, table] of tables) {
    const trigger = table.eventTriggers.get(name);
    if (trigger !== undefined) return [key, table, trigger];
  }
  return undefined;
}

interface CreateEventTrigger {
  readonly table: QualifiedName;
  readonly source: string;
  readonly replace: boolean;
  readonly trigger: EventTrigger;
}

function createArguments(backend: Backend): Codec<CreateEventTrigger> {
  const { name, ...fields } = eventTriggerFields;
  const written = object('CreateEventTriggerQuery', {
    name,
    table: required(backend.tableName),
    source: sourceArgument,
    ...fields,
    replace: defaulted(bool, () => false),
  });
  return leaf(
    written.name,
    (json, path) => {
      const { table, source, replace, ...rest } = written.decode(json, path);
      return { table, source, replace, trigger: eventTriggerOf(rest, path) };
    },
    () => {
      throw new Error('invariant: arguments are only read');
    },
    like(written),
  );
}

/** @throws SvcError */
function edited(metadata: Metadata, args: CreateEventTrigger, backend: Backend, context: Pick<OperationContext, 'snapshot'>): Metadata {
  const { trigger, table, replace } = args;
  const source = targetSource(metadata, args.source, backend, context.snapshot);
  requireTable(source, table, backend);
  const owner = ownerOfTrigger(source, trigger.name);
  if (!replace && owner !== undefined) throw new SvcError('already-exists', `Event trigger with name "${trigger.name}" already exists`);
  if (replace && owner === undefined) throw noSuchTrigger(trigger.name);
  if (owner !== undefined && owner[0] !== nameKey(table)) throw new SvcError('not-supported', 'cannot replace table or schema for trigger');
  return updateTable(metadata, source.name, nameKey(table), (entry) => ({
    ...entry,
    eventTriggers: withEntry(entry.eventTriggers, trigger.name, trigger),
  }));
}

const create = perKind('create_event_trigger', hasEventTriggers, (backend) =>
  define<CreateEventTrigger>({
    args: createArguments(backend),
    changes: 'metadata',
    errors: [
      ...TABLE_ERRORS,
      refused(
        'already-exists',
        '`replace` is false and an event trigger with this name exists in the source, or was installed by another service in its database',
      ),
      refused('not-exists', '`replace` is true and the event trigger does not exist in the source, or a column does not exist'),
      refused('not-supported', 'the trigger to replace is on another table, the table is a view, or `ordering` needs a primary key'),
      refused('not-found', 'an environment variable is not set'),
      refused('validation-failed', 'a template of a transform is invalid; `internal` has the reasons'),
      INCONSISTENT,
      BREAKS_OTHERS,
      refused(backend.errorCodes.failed, 'the database refuses to install the trigger'),
      ...databaseErrors(backend),
    ],
    documentation: {
      summary: 'Adds a trigger that calls a webhook when rows of a table are inserted, updated or deleted.',
      example: {
        source: 'default',
        name: 'article_changed',
        table: 'article',
        webhook: 'https://hooks.example.org/article',
        insert: { columns: '*' },
        update: { columns: ['title'], payload: ['id', 'title'] },
        retry_conf: { num_retries: 5, interval_sec: 10 },
      },
    },
    async run(args, context) {
      const { trigger, source } = args;
      requireTransforms(trigger, context.path);
      const captures = requireCaptures(source, backend, context);
      const check = edited(context.snapshot.metadata, args, backend, context);
      invariant(check !== context.snapshot.metadata || args.replace, 'a new trigger changes the metadata');
      if (!args.replace && (await captures.isTaken(trigger.name, context.snapshot.captureOwner(source))))
        throw new SvcError('already-exists', `Event trigger with name "${trigger.name}" already exists`);
      await context.change({
        edit: (metadata, snapshot) => edited(metadata, args, backend, { snapshot }),
        edited: [objectId.eventTrigger(source, trigger.name)],
      });
      return SUCCESS;
    },
  }),
);

const remove = perKind('delete_event_trigger', hasEventTriggers, (backend) =>
  define({
    args: object('DeleteEventTriggerQuery', { name: required(nonEmptyText), source: sourceArgument }),
    changes: 'metadata',
    errors: [...SOURCE_ERRORS, NO_TRIGGER],
    documentation: {
      summary: 'Removes an event trigger. Undelivered events are not delivered, but stay in the log as archived.',
      example: { source: 'default', name: 'article_changed' },
    },
    edit(metadata, { name, source: of }, { snapshot }) {
      const source = targetSource(metadata, of, backend, snapshot);
      const owner = ownerOfTrigger(source, name);
      if (owner === undefined) throw noSuchTrigger(name);
      return updateTable(metadata, source.name, owner[0], (entry) => ({
        ...entry,
        eventTriggers: withoutEntry(entry.eventTriggers, name),
      }));
    },
  }),
);

const invokeArguments = object('InvokeEventTriggerQuery', {
  name: required(nonEmptyText),
  payload: required(anyJson),
  source: sourceArgument,
});

const invoke = perKind('invoke_event_trigger', hasEventTriggers, (backend) =>
  define<Decoded<typeof invokeArguments>>({
    args: invokeArguments,
    changes: 'database',
    errors: [
      ...SOURCE_ERRORS,
      NO_TRIGGER,
      refused('not-supported', 'the trigger cannot be invoked manually'),
      refused('unexpected', 'the trigger is inconsistent', 400),
      ...databaseErrors(backend),
    ],
    documentation: {
      summary: 'Sends an event with any payload to the webhook of a trigger, and returns its id.',
      example: { source: 'default', name: 'article_changed', payload: { id: 1 } },
    },
    async run({ name, payload, source }, context) {
      const captures = requireCaptures(source, backend, context);
      const { metadata, cache } = context.snapshot;
      const owner = ownerOfTrigger(targetSource(metadata, source, backend, context.snapshot), name);
      if (owner === undefined) throw noSuchTrigger(name);
      if (!owner[2].enableManual) throw new SvcError('not-supported', 'manual mode is not enabled for event trigger');
      const trigger = cache.sources.get(source)?.eventTriggers.get(name);
      if (trigger === undefined) throw new SvcError('unexpected', `event trigger "${name}" is inconsistent`, { status: 400 });
      const session: Json = Object.fromEntries<Json>(context.session.variables);
      return { event_id: await captures.invoke(trigger, payload, session, traceContextOf(context.requestOptions.headers ?? {})) };
    },
  }),
);

export const eventTriggerOperations: readonly OperationGroup[] = [create, remove, invoke];

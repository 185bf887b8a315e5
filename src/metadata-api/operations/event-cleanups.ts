/** Cleanup of the event log. */
import type { CleanupSpec } from '../../backend/captures.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, leaf, list, nonEmptyText, object, required } from '../../metadata/codec.ts';
import { updateTable, withEntry } from '../../metadata/edit.ts';
import { cleanupFields, type CleanupConfig } from '../../metadata/event-trigger.ts';
import type { Metadata, SourceMetadata } from '../../metadata/metadata.ts';
import { isJsonArray } from '../../util/json.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { databaseErrors, refused, SOURCE_ERRORS } from '../operation-error.ts';
import { sourceArgument, unusable } from '../target.ts';
import { hasEventTriggers, noSuchTrigger, NO_TRIGGER, ownerOfTrigger } from './event-triggers.ts';

function requireSourceNamed({ sources }: Metadata, name: string): SourceMetadata {
  const source = sources.get(name);
  // Clients rely on this text, including its mistake.
  if (source === undefined) throw new SvcError('not-exists', `source with name ${name} does not exists`);
  return source;
}

const cleanUp: OperationGroup = (backends) => [
  operation({
    type: 'cleanup_event_trigger_logs',
    args: object('TriggerLogCleanupConfig', { eventTriggerName: required(nonEmptyText), source: sourceArgument, ...cleanupFields }),
    changes: 'database',
    errors: [...SOURCE_ERRORS, NO_TRIGGER, ...databaseErrors(...backends.filter(hasEventTriggers))],
    documentation: {
      summary:
        'Deletes the events of a trigger that are delivered or failed and older than `clear_older_than` hours, in batches, and returns the numbers of deleted rows. Ends when a batch takes longer than `timeout`.',
      example: { source: 'default', event_trigger_name: 'article_changed', clear_older_than: 168, clean_invocation_logs: true },
    },
    async run({ eventTriggerName: trigger, source: name, ...config }, { snapshot, signal }) {
      const source = requireSourceNamed(snapshot.metadata, name);
      if (ownerOfTrigger(source, trigger) === undefined) throw noSuchTrigger(trigger);
      const captures = snapshot.connections.get(name)?.captures;
      if (captures === undefined) throw unusable(name, snapshot);
      const spec: CleanupSpec = { trigger, ...config };
      const { events, invocations } = await captures.cleanUp(() => spec, signal === undefined ? {} : { signal });
      return { message: 'success', deleted_event_logs: events, deleted_event_invocation_logs: invocations };
    },
  }),
];

interface SelectedTriggers {
  readonly source: string;
  /** Defaults to all triggers with a `cleanup_config`. */
  readonly triggers?: readonly string[];
}

type Selection = 'all' | readonly SelectedTriggers[];

const byTrigger = list(
  object('EventTriggerQualifier', { sourceName: required(nonEmptyText), eventTriggers: required(list(nonEmptyText)) }),
);
const bySource = object('TriggerLogCleanupSources', {
  sources: required(
    leaf<'*' | readonly string[]>(
      'SourceNames',
      (json, path) => (json === '*' ? '*' : list(nonEmptyText).decode(json, path)),
      (value) => value,
      { description: '`"*"`, or a list of source names.' },
    ),
  ),
});

const selection: Codec<Selection> = leaf(
  'TriggerLogCleanupToggle',
  (json, path) => {
    if (isJsonArray(json))
      return byTrigger.decode(json, path).map(({ sourceName, eventTriggers }) => ({ source: sourceName, triggers: eventTriggers }));
    const { sources } = bySource.decode(json, path);
    return sources === '*' ? 'all' : sources.map((source) => ({ source }));
  },
  () => {
    throw new Error('invariant: arguments are only read');
  },
  { description: '`{"sources": "*"}`, `{"sources": […]}`, or a list of triggers by source.', of: [bySource, byTrigger] },
);

/** @throws SvcError not-exists */
function withPaused(metadata: Metadata, selected: Selection, paused: boolean): Metadata {
  const all = selected === 'all' ? [...metadata.sources.keys()].map((source): SelectedTriggers => ({ source })) : selected;
  let edited = metadata;
  for (const { source: name, triggers } of all) {
    const source = requireSourceNamed(edited, name);
    for (const trigger of triggers ?? withCleanup(source)) edited = withOnePaused(edited, name, trigger, paused);
  }
  return edited;
}

function withCleanup({ tables }: SourceMetadata): readonly string[] {
  return [...tables.values()].flatMap(({ eventTriggers }) =>
    [...eventTriggers.values()].flatMap(({ name, cleanupConfig }) => (cleanupConfig === undefined ? [] : [name])),
  );
}

/** @throws SvcError not-exists */
function withOnePaused(metadata: Metadata, source: string, name: string, paused: boolean): Metadata {
  const owner = ownerOfTrigger(requireSourceNamed(metadata, source), name);
  if (owner === undefined) throw noSuchTrigger(name);
  const [key, , trigger] = owner;
  const config: CleanupConfig | undefined = trigger.cleanupConfig;
  if (config === undefined) throw new SvcError('not-exists', `cleanup config does not exist for ${name}`);
  if (config.paused === paused) return metadata;
  return updateTable(metadata, source, key, (entry) => ({
    ...entry,
    eventTriggers: withEntry(entry.eventTriggers, name, { ...trigger, cleanupConfig: { ...config, paused } }),
  }));
}

const toggles: OperationGroup = () =>
  ([true, false] as const).map((paused) =>
    operation({
      type: paused ? 'pause_event_trigger_cleanups' : 'resume_event_trigger_cleanups',
      args: object('TriggerLogCleanupToggleConfig', { eventTriggers: required(selection) }),
      changes: 'metadata',
      errors: [refused('not-exists', 'the source or event trigger does not exist, or the trigger has no `cleanup_config`')],
      documentation: {
        summary: `${paused ? 'Pauses' : 'Resumes'} the automatic event log cleanup of the listed triggers or, with \`{"sources": …}\`, of all triggers in some or all (\`"*"\`) sources.`,
        example: { event_triggers: [{ source_name: 'default', event_triggers: ['article_changed'] }] },
      },
      edit: (metadata, { eventTriggers }) => withPaused(metadata, eventTriggers, paused),
    }),
  );

export const eventCleanupOperations: readonly OperationGroup[] = [cleanUp, toggles];

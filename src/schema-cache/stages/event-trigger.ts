/** Event triggers of a table: checks that the database can capture the columns and that the webhook can be called. */
import type { CatalogTable } from '../../catalog/catalog.ts';
import type { EnvironmentVariables } from '../../metadata/environment-template.ts';
import { CAPTURED_OPERATIONS, type EventTrigger, MAX_TRIGGER_NAME_LENGTH, namedColumns } from '../../metadata/event-trigger.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import type { EventTriggerInfo, Inconsistency } from '../schema-cache.ts';
import { describeEventTrigger } from './describe.ts';
import { printTable, type StageSource } from './lookups.ts';
import { checkTransforms } from './transforms.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';
import { checkWebhook } from './webhook.ts';

export interface EventTriggersResult {
  readonly triggers: ReadonlyMap<string, EventTrigger>;
  readonly table: CatalogTable;
  readonly infos: ReadonlyMap<string, EventTriggerInfo>;
  readonly inconsistencies: readonly Inconsistency[];
}

/** Environment variables are read each time, because a reload has to see their changes. */
export function resolveEventTriggers(
  source: StageSource,
  table: CatalogTable,
  triggers: ReadonlyMap<string, EventTrigger>,
  environment: EnvironmentVariables,
  previous: EventTriggersResult | undefined,
): EventTriggersResult {
  const infos = new Map<string, EventTriggerInfo>();
  const inconsistencies: Inconsistency[] = [];
  for (const [name, definition] of triggers) {
    try {
      check(source, table, definition, environment);
      const known = previous?.infos.get(name);
      if (known?.definition !== definition) checkTransforms(definition);
      infos.set(name, known?.definition === definition && known.table === table ? known : { source: source.name, definition, table });
    } catch (error) {
      if (!(error instanceof Defect)) throw error;
      inconsistencies.push(fromDefect(describeEventTrigger(source, table.name, definition), '', error));
    }
  }
  return { triggers, table, infos, inconsistencies };
}

/** Returns a defect with an error code of its own for operations on the trigger. */
function defect(code: ErrorCode, message: string): Defect {
  return new Defect(message, { code, message, of: 'edited' });
}

/** @throws Defect */
function check(source: StageSource, table: CatalogTable, trigger: EventTrigger, environment: EnvironmentVariables): void {
  rejectUnknownKeys(trigger);
  const { kind, capabilities } = source.backend;
  if (!capabilities.eventTriggers) throw defect('not-supported', `Event triggers are not supported for ${kind} sources`);
  const { name, ordering } = trigger;
  if (name.length > MAX_TRIGGER_NAME_LENGTH) throw new Defect(`event trigger name can be at most ${MAX_TRIGGER_NAME_LENGTH} characters`);
  const printed = printTable(source, table.name);
  const isView = table.kind === 'view' || table.kind === 'materialized-view';
  if (isView && CAPTURED_OPERATIONS.some((operation) => trigger[operation] !== undefined))
    throw defect(
      'not-supported',
      `"${printed}" is a view, and only tables can have event triggers, except for triggers that are only invoked manually`,
    );
  for (const column of namedColumns(trigger)) {
    if (!table.columns.some((each) => each.name === column)) throw defect('not-exists', `column "${column}" does not exist`);
  }
  if (ordering === 'row' && table.primaryKey === null)
    throw defect('not-supported', `the table "${printed}" has no primary key, which is needed to order the events of a row`);
  const { webhook: url, headers, signature, requestTransform } = trigger;
  checkWebhook({ url, headers, signature, requestTransform }, environment, (message) => defect('not-found', message));
}

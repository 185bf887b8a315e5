/** The event triggers of a table: whether the database can capture what they name, and whether their calls can be made. */
import type { CatalogTable } from '../../catalog/catalog.ts';
import type { Environment } from '../../metadata/environment-template.ts';
import { CAPTURED_OPERATIONS, type EventTrigger, LONGEST_TRIGGER_NAME, namedColumns } from '../../metadata/event-trigger.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import type { EventTriggerInfo, Inconsistency } from '../schema-cache.ts';
import { describeEventTrigger } from './describe.ts';
import { printTable, type StageSource } from './scope.ts';
import { checkTransforms } from './transforms.ts';
import { refuseUnknown } from './unknown-keys.ts';
import { checkWebhook } from './webhook.ts';

export interface EventTriggersResult {
  readonly triggers: ReadonlyMap<string, EventTrigger>;
  readonly table: CatalogTable;
  readonly infos: ReadonlyMap<string, EventTriggerInfo>;
  readonly inconsistencies: readonly Inconsistency[];
}

/** Environment variables are looked at each time: that is what a reload is for. */
export function resolveEventTriggers(
  source: StageSource,
  table: CatalogTable,
  triggers: ReadonlyMap<string, EventTrigger>,
  environment: Environment,
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

/** A defect that refuses a command about the trigger with a code of its own. */
function defect(code: ErrorCode, message: string): Defect {
  return new Defect(message, { code, message, of: 'edited' });
}

/** @throws Defect */
function check(source: StageSource, table: CatalogTable, trigger: EventTrigger, environment: Environment): void {
  refuseUnknown(trigger);
  const { kind, capabilities } = source.backend;
  if (!capabilities.eventTriggers) throw defect('not-supported', `Event triggers are not supported for ${kind} sources`);
  const { name, ordering } = trigger;
  if (name.length > LONGEST_TRIGGER_NAME) throw new Defect(`event trigger name can be at most ${LONGEST_TRIGGER_NAME} characters`);
  const printed = printTable(source, table.name);
  const isView = table.kind === 'view' || table.kind === 'materialized-view';
  if (isView && CAPTURED_OPERATIONS.some((operation) => trigger[operation] !== undefined))
    throw defect('not-supported', `"${printed}" is a view: only tables can have event triggers, but for those that are invoked manually`);
  for (const column of namedColumns(trigger)) {
    if (!table.columns.some((each) => each.name === column)) throw defect('not-exists', `column "${column}" does not exist`);
  }
  if (ordering === 'row' && table.primaryKey === null)
    throw defect('not-supported', `the table "${printed}" has no primary key, by which the events of a row could be ordered`);
  const { webhook: url, headers, signature, requestTransform } = trigger;
  checkWebhook({ url, headers, signature, requestTransform }, environment, (message) => defect('not-found', message));
}

import type { RunOptions } from '../../../backend/backend.ts';
import type {
  Captures,
  CapturedTrigger,
  CleanupCounts,
  CleanupSpec,
  EventFilter,
  InstallFailure,
  InstallOptions,
  Page,
} from '../../../backend/captures.ts';
import type { Json } from '../../../util/json.ts';
import { CleanupPlan, cleanUp } from './cleanup.ts';
import { install, isTaken, retain, uninstall } from './install.ts';
import { EventLog } from './log.ts';
import { DbbEventQueue } from './queue.ts';
import type { BodyOptions } from './triggers.ts';
import { type EventDatabase, patient } from './work.ts';

/** Event triggers of a MariaDB database. */
export function dbbCaptures(source: EventDatabase, options: Pick<BodyOptions, 'stringifyNumericTypes'>): Captures {
  const database = patient(source);
  const log = new EventLog(database);
  const plan = new CleanupPlan(database);
  return {
    events: new DbbEventQueue(database),
    install: (triggers: readonly CapturedTrigger[], how: InstallOptions): Promise<readonly InstallFailure[]> =>
      install(database, triggers, how, options),
    retain: (names, owner, gone) => retain(database, names, owner, gone),
    uninstall: (owner) => uninstall(database, owner),
    isTaken: (name, owner) => isTaken(database, name, owner),
    invoke: (trigger: CapturedTrigger, payload: Json, session: Json, traceContext: Json) =>
      log.invoke(trigger, payload, session, traceContext),
    redeliver: (id) => log.redeliver(id),
    redeliverAll: (filter: EventFilter, limit) => log.redeliverAll(filter, limit),
    list: (filter: EventFilter, page: Page) => log.list(filter, page),
    count: (filter) => log.count(filter),
    summary: (triggers, since) => log.summary(triggers, since),
    invocations: (trigger, page) => log.invocations(trigger, page),
    event: (id, page) => log.event(id, page),
    cleanUp: (spec: () => CleanupSpec | null, how: RunOptions): Promise<CleanupCounts> => cleanUp(database, spec, how),
    plannedCleanups: () => plan.planned(),
    planCleanups: (trigger, times) => plan.plan(trigger, times),
    forgetCleanups: (except) => plan.forget(except),
    replanCleanups: (trigger, times) => plan.replan(trigger, times),
    takeDueCleanups: () => plan.takeDue(),
    endCleanup: (id, status, counts) => plan.end(id, status, counts),
  };
}

import type { RunOptions, Source } from '../../../backend/backend.ts';
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
import { type CaptureOptions, install, isTaken, retain, uninstall } from './install.ts';
import { backlog } from './backlog.ts';
import { EventLog } from './log.ts';
import { patient } from './patient.ts';
import { PgEventQueue, type QueueOptions } from './queue.ts';

export interface PgCaptureOptions extends CaptureOptions, QueueOptions {}

/** Event triggers of a PostgreSQL database. */
export function pgCaptures(database: Source, options: PgCaptureOptions): Captures {
  const source = patient(database);
  const log = new EventLog(source);
  const plan = new CleanupPlan(source);
  return {
    events: new PgEventQueue(database, options),
    install: (triggers: readonly CapturedTrigger[], how: InstallOptions): Promise<readonly InstallFailure[]> =>
      install(source, triggers, how, options),
    retain: (names, owner, gone) => retain(source, names, owner, gone),
    uninstall: (owner) => uninstall(source, owner),
    isTaken: (name, owner) => isTaken(source, name, owner),
    invoke: (trigger: CapturedTrigger, payload: Json, session: Json, traceContext: Json) =>
      log.invoke(trigger, payload, session, traceContext),
    redeliver: (id) => log.redeliver(id),
    redeliverAll: (filter: EventFilter, limit) => log.redeliverAll(filter, limit),
    list: (filter: EventFilter, page: Page) => log.list(filter, page),
    count: (filter) => log.count(filter),
    summary: (triggers, since) => log.summary(triggers, since),
    backlog: (how) => backlog(database, how),
    invocations: (trigger, page) => log.invocations(trigger, page),
    event: (id, page) => log.event(id, page),
    cleanUp: (spec: () => CleanupSpec | null, how: RunOptions): Promise<CleanupCounts> => cleanUp(source, spec, how),
    plannedCleanups: () => plan.planned(),
    planCleanups: (trigger, times) => plan.plan(trigger, times),
    forgetCleanups: (except) => plan.forget(except),
    replanCleanups: (trigger, times) => plan.replan(trigger, times),
    takeDueCleanups: () => plan.takeDue(),
    endCleanup: (id, status, counts) => plan.end(id, status, counts),
  };
}

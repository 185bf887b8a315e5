/** The captures of a source, of the parts that kinds have in common. */
import type { Captures, CleanupCounts, PlannedCleanup } from '../../backend/captures.ts';

/** Events that were captured, and what came of them. */
export type EventLogStore = Pick<
  Captures,
  'invoke' | 'redeliver' | 'redeliverAll' | 'list' | 'count' | 'summary' | 'invocations' | 'event'
>;

/** Runs of automatic clean-ups. See the methods of `Captures` with longer names. */
export interface CleanupPlanStore {
  planned(): Promise<ReadonlyMap<string, number>>;
  plan(trigger: string, times: readonly string[]): Promise<void>;
  forget(except: readonly string[]): Promise<void>;
  replan(trigger: string, times: readonly string[]): Promise<void>;
  takeDue(): Promise<readonly PlannedCleanup[]>;
  end(id: string, status: 'completed' | 'paused' | 'dead', counts: CleanupCounts): Promise<void>;
}

/** @param own what each kind has for itself */
export function capturesOf(
  log: EventLogStore,
  plan: CleanupPlanStore,
  own: Pick<Captures, 'events' | 'install' | 'retain' | 'uninstall' | 'isTaken' | 'cleanUp' | 'backlog'>,
): Captures {
  return {
    ...own,
    invoke: (trigger, payload, session, traceContext) => log.invoke(trigger, payload, session, traceContext),
    redeliver: (id) => log.redeliver(id),
    redeliverAll: (filter, limit) => log.redeliverAll(filter, limit),
    list: (filter, page) => log.list(filter, page),
    count: (filter) => log.count(filter),
    summary: (triggers, since) => log.summary(triggers, since),
    invocations: (trigger, page) => log.invocations(trigger, page),
    event: (id, page) => log.event(id, page),
    plannedCleanups: () => plan.planned(),
    planCleanups: (trigger, times) => plan.plan(trigger, times),
    forgetCleanups: (except) => plan.forget(except),
    replanCleanups: (trigger, times) => plan.replan(trigger, times),
    takeDueCleanups: () => plan.takeDue(),
    endCleanup: (id, status, counts) => plan.end(id, status, counts),
  };
}

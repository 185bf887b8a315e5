/** Asynchronous actions: their log, whoever makes their calls, and the end of old ones. */
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Source } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { actionCalls } from '../events/action-calls.ts';
import { createEngine } from '../events/engine.ts';
import type { LaterCalls } from '../execute/run-context.ts';
import type { Observer } from '../observability/observation.ts';
import type { State } from '../state/state.ts';
import { type ActionLog, createActionLog } from '../metadata-store/action-log.ts';
import { type Repetition, repeatedly } from '../util/repeatedly.ts';

export interface AsynchronousActions extends LaterCalls {
  readonly log: ActionLog;
  /** Begins to make calls. */
  start(state: Pick<State, 'current'>, call: HandlerCaller): void;
  /** Takes no more calls, waits so many ms for those under way, and hands back the others. */
  stop(graceMs: number): Promise<void>;
}

/** Calls that are made at a time. */
const SLOTS = 100;
const MOST_BETWEEN_CLEANUPS_MS = 3_600_000;

export function asynchronousActions(config: Config, database: Source, instanceId: string, observe: Observer): AsynchronousActions {
  const log = createActionLog(database);
  let queue: { wake(): void } | undefined;
  let stopEngine: (graceMs: number) => Promise<void> = async () => undefined;
  let cleaning: Repetition | undefined;
  let isStopping = false;
  const clean = async (): Promise<void> => {
    while (!isStopping && (await log.removeOlder(Math.ceil(config.asyncActionsLogRetention / 1000))) > 0);
  };
  return {
    log,
    maxResponseSize: config.actionResponseLimit,
    wake: () => queue?.wake(),
    start(state, call) {
      const { asyncActionsFetchInterval: pollInterval, asyncActionsLogRetention: retention } = config;
      if (retention > 0) {
        cleaning = repeatedly(clean, Math.min(MOST_BETWEEN_CLEANUPS_MS, Math.max(1000, retention)), (error) =>
          observe({ kind: 'unexpected', message: `cannot remove old calls of actions: ${describeFailure(error)}`, error }),
        );
      }
      if (pollInterval === 0) return;
      const engine = createEngine({
        holder: `${instanceId}-actions`,
        slots: SLOTS,
        batchSize: config.asyncActionsFetchBatchSize,
        observe,
      });
      stopEngine = (graceMs) => engine.stop(graceMs);
      queue = engine.add(
        actionCalls({
          store: log.store,
          pollInterval,
          cache: () => state.current().cache,
          call,
          showsInternal: (role) => config.devMode || (config.adminInternalErrors && role === ADMIN_ROLE),
        }),
      );
    },
    async stop(graceMs) {
      isStopping = true;
      await Promise.all([cleaning?.stop(), stopEngine(graceMs)]);
    },
  };
}

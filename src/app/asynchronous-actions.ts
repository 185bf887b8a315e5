/** Asynchronous actions: their log, the queue that calls their handlers, and the removal of old log entries. */
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Source } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { actionCalls } from '../events/action-calls.ts';
import { createEngine } from '../events/engine.ts';
import type { AsynchronousCalls } from '../execute/run-context.ts';
import type { Observer } from '../observability/observation.ts';
import type { State } from '../state/state.ts';
import { type ActionLog, createActionLog } from '../metadata-store/action-log.ts';
import { type Repetition, repeatedly } from '../util/repeatedly.ts';

type ActionsConfig = Pick<
  Config,
  | 'asyncActionsFetchInterval'
  | 'asyncActionsFetchBatchSize'
  | 'asyncActionsLogRetention'
  | 'actionResponseLimit'
  | 'devMode'
  | 'adminInternalErrors'
>;

export interface AsynchronousActions extends AsynchronousCalls {
  readonly log: ActionLog;
  /** Starts calling handlers. */
  start(state: Pick<State, 'current'>, call: HandlerCaller): void;
  /** Fetches no more calls, waits up to `graceMs` for running ones, and releases the rest to other instances. */
  stop(graceMs: number): Promise<void>;
}

const MAX_CONCURRENT_CALLS = 100;
const MAX_CLEANUP_INTERVAL_MS = 3_600_000;

export function asynchronousActions(config: ActionsConfig, database: Source, instanceId: string, observe: Observer): AsynchronousActions {
  const log = createActionLog(database);
  let queue: { wake(): void } | undefined;
  let stopEngine: (graceMs: number) => Promise<void> = async () => undefined;
  let cleaning: Repetition | undefined;
  let isStopping = false;
  const removeOld = async (): Promise<void> => {
    while (!isStopping && (await log.removeOlder(Math.ceil(config.asyncActionsLogRetention / 1000))) > 0);
  };
  return {
    log,
    maxResponseSize: config.actionResponseLimit,
    wake: () => queue?.wake(),
    start(state, call) {
      const { asyncActionsFetchInterval: pollInterval, asyncActionsLogRetention: retention } = config;
      if (retention > 0) {
        cleaning = repeatedly(removeOld, Math.min(MAX_CLEANUP_INTERVAL_MS, Math.max(1000, retention)), (error) =>
          observe({
            kind: 'unexpected',
            message: `cannot remove old log entries of asynchronous actions: ${describeFailure(error)}`,
            error,
          }),
        );
      }
      if (pollInterval === 0) return;
      const engine = createEngine({
        holder: `${instanceId}-actions`,
        workers: MAX_CONCURRENT_CALLS,
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

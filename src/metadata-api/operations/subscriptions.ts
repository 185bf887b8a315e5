/** Cost of subscriptions. */
import type { Json } from '../../util/json.ts';
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup } from '../operation.ts';
import type { PollerReport } from '../../subscriptions/poller-report.ts';

const getSubscriptions: OperationGroup = () => [
  operation({
    type: 'get_subscriptions',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: {
      summary:
        'Lists the pollers of this instance, the statements that it repeats for subscriptions: role, number of subscribers and of cohorts (subscribers with the same values), what triggers a run (a change in the database, or an interval) and why, and the times of the last run.',
      example: {},
    },
    run: async (_args, { services }) => ({ pollers: services.pollers().map(describe) }),
  }),
];

/** Times in milliseconds. */
function describe(poller: PollerReport): Json {
  const { last } = poller;
  return {
    poller_id: poller.id,
    kind: poller.kind,
    source: poller.source,
    role: poller.role,
    query: poller.query,
    sql: poller.sql,
    cohorts: poller.cohorts,
    failing_cohorts: poller.failing,
    slow_cohorts: poller.slow,
    subscribers: poller.subscribers,
    waits_for: poller.waitsFor,
    reason: poller.reason,
    refetch_interval: poller.refetchIntervalMs,
    batch_size: poller.batchSize,
    runs: poller.runs,
    last_run:
      last === null
        ? null
        : {
            at: last.at.toISOString(),
            cohorts: last.cohorts,
            sent: last.sent,
            batches: last.batches.length,
            detector_time: last.detector === null ? null : rounded(last.detector),
            database_time: rounded(last.database),
            hashing_time: rounded(last.hashing),
            sending_time: rounded(last.sending),
            total_time: rounded(last.total),
          },
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

export const subscriptionOperations: readonly OperationGroup[] = [getSubscriptions];

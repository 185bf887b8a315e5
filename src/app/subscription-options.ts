import type { Config } from '../config/options.ts';
import type { SubscriptionOptions } from '../subscriptions/create-subscriptions.ts';

export type SubscriptionConfig = Pick<
  Config,
  | 'liveQueriesMultiplexedRefetchInterval'
  | 'liveQueriesMultiplexedBatchSize'
  | 'streamingQueriesMultiplexedRefetchInterval'
  | 'streamingQueriesMultiplexedBatchSize'
  | 'subscriptionsDetectorInterval'
  | 'subscriptionPollerLimit'
  | 'requestTimeout'
>;

export function subscriptionOptions(config: SubscriptionConfig): SubscriptionOptions {
  return {
    liveQueries: { refetchIntervalMs: config.liveQueriesMultiplexedRefetchInterval, batchSize: config.liveQueriesMultiplexedBatchSize },
    streams: {
      refetchIntervalMs: config.streamingQueriesMultiplexedRefetchInterval,
      batchSize: config.streamingQueriesMultiplexedBatchSize,
    },
    detectorIntervalMs: config.subscriptionsDetectorInterval,
    pollersPerRole: config.subscriptionPollerLimit,
    timeoutMs: config.requestTimeout,
  };
}

import type { Config } from '../config/options.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';

export type LimitsConfig = Pick<
  Config,
  'queryTokenLimit' | 'queryDepthLimit' | 'queryNodeLimit' | 'queryObjectLimit' | 'queryAliasLimit' | 'requestBodyLimit'
>;

/** Limits of every GraphQL operation, whatever its role. */
export function operationLimits(config: LimitsConfig): OperationLimits {
  return {
    maxTokens: config.queryTokenLimit,
    maxDepth: config.queryDepthLimit,
    maxValues: config.queryNodeLimit,
    maxObjects: config.queryObjectLimit,
    maxAliases: config.queryAliasLimit,
    // A variable that is used several times is limited like a request that contains its value as often.
    maxRepeatedSize: config.requestBodyLimit,
    maxIntrospectionCharacters: 128 * 1024 * 1024,
  };
}

import { DocumentCounts } from '../pipeline/document-counts.ts';
import type { Backend } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import { createInputValidator } from '../execute/input-validator.ts';
import type { AsynchronousCalls } from '../execute/run-context.ts';
import type { OutboundClient } from '../http-client/client.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Observer } from '../observability/observation.ts';
import { RegisteredTexts } from '../pipeline/registered-texts.ts';
import { RecentOperations } from '../pipeline/recent-operations.ts';
import { createRateLimiter } from '../pipeline/rate-limiter.ts';
import { createAllowList } from '../pipeline/allow-list.ts';
import { BatchBudget } from '../pipeline/batch-budget.ts';
import { compilersOf } from '../pipeline/compilers.ts';
import { createOperationCache } from '../pipeline/operation-cache.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';
import { createResponseCache, type ResponseCache } from '../pipeline/response-cache.ts';
import { SchemaAnswers } from '../pipeline/schema-answers.ts';
import { ResultMemory } from '../pipeline/result-memory.ts';
import { createRemoteAccess } from '../remote-schema/client/remote-caller.ts';
import type { Snapshots, State } from '../state/state.ts';
import { createHandlerCaller } from '../webhooks/handler-call.ts';
import { type LimitsConfig, operationLimits } from './operation-limits.ts';

export type PipelineConfig = LimitsConfig &
  Pick<
    Config,
    | 'slowQueryLog'
    | 'enabledLogTypes'
    | 'logMaskedVariables'
    | 'remoteSchemaResponseLimit'
    | 'actionResponseLimit'
    | 'configuredHeaderPrecedence'
    | 'joinKeyLimit'
    | 'joinResponseLimit'
    | 'responseLimit'
    | 'batchResponseLimit'
    | 'resultMemory'
    | 'enableAllowlist'
    | 'documentsOnly'
    | 'enableApq'
    | 'apqMemory'
    | 'operationCacheSize'
    | 'plansPerOperation'
    | 'operationCacheMemory'
    | 'stringifyNumericTypes'
  >;

export interface PipelineParts extends Pick<RequestPipeline, 'meter' | 'onWritten'> {
  readonly backends: readonly Backend[];
  readonly outbound: OutboundClient;
  readonly environment: EnvironmentVariables;
  readonly asynchronousCalls: AsynchronousCalls;
  /** `null` if no answers are cached. */
  readonly responses: ResponseCache | null;
  readonly observe: Observer;
}

/** Builds what every GraphQL request passes through. */
export function createRequestPipeline(config: PipelineConfig, parts: PipelineParts): RequestPipeline {
  const { backends, outbound, environment, asynchronousCalls, responses, observe, meter, onWritten } = parts;
  const limits = operationLimits(config);
  const isStrict = config.enableAllowlist || config.documentsOnly;
  const responseLimit = config.responseLimit === 0 ? Number.POSITIVE_INFINITY : config.responseLimit;
  return {
    recent: new RecentOperations(),
    ...(meter && { meter }),
    ...(onWritten && { onWritten }),
    ...(responses === null ? {} : { responses }),
    ...(config.slowQueryLog === 0 ? {} : { slow: { limit: config.slowQueryLog, observe } }),
    ...(config.enabledLogTypes.has('query-log')
      ? { observeQuery: observe, observeCost: observe, maskedVariables: config.logMaskedVariables }
      : {}),
    validateInput: createInputValidator(outbound, environment),
    remotes: createRemoteAccess({ outbound, maxResponseSize: config.remoteSchemaResponseLimit }),
    callHandler: createHandlerCaller({
      outbound,
      environment,
      userAgent: `svc-graphql/${serviceVersion()}`,
      maxResponseSize: config.actionResponseLimit,
      configuredHeadersFirst: config.configuredHeaderPrecedence,
      observeFailure: observe,
      ...(config.enabledLogTypes.has('action-handler-log') ? { observeResponse: observe } : {}),
    }),
    asynchronousCalls,
    joinBounds: { maxKeys: config.joinKeyLimit, maxBytes: config.joinResponseLimit },
    limits,
    newBudget: (reservation) => new BatchBudget(limits, { batch: config.batchResponseLimit, operation: responseLimit }, reservation),
    memory: new ResultMemory(config.resultMemory === 0 ? Number.POSITIVE_INFINITY : config.resultMemory),
    responseLimit,
    rateLimiter: createRateLimiter(),
    ...(config.enableApq && !isStrict ? { registeredTexts: new RegisteredTexts(config.apqMemory) } : {}),
    documentCounts: new DocumentCounts(),
    allowList: isStrict ? createAllowList({ maxTokens: config.queryTokenLimit, documentsOnly: config.documentsOnly }) : null,
    operations: createOperationCache({
      operations: config.operationCacheSize,
      plansPerOperation: config.plansPerOperation,
      memory: config.operationCacheMemory,
    }),
    schemaAnswers: new SchemaAnswers(),
    compilerOf: compilersOf(backends, { stringifyNumericTypes: config.stringifyNumericTypes }),
  };
}

/** Opens the cache of `@cached` answers, which follows the metadata. @returns `null` if its size is 0 */
export function openResponseCache(
  { cacheMemory: memory, maxCacheSize: maxEntrySize, cacheMaxEntryTtl }: Pick<Config, 'cacheMemory' | 'maxCacheSize' | 'cacheMaxEntryTtl'>,
  state: Pick<State & Snapshots, 'current' | 'onSnapshot'>,
): ResponseCache | null {
  if (memory === 0) return null;
  const responses = createResponseCache({ memory, maxEntrySize, maxTtl: cacheMaxEntryTtl / 1000 });
  responses.follow(state.current());
  state.onSnapshot((shown) => responses.follow(shown));
  return responses;
}

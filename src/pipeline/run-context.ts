import { noJoinUsage } from '../execute/placeholders.ts';
import type { RunContext } from '../execute/run-context.ts';
import { OperationBudget } from './operation-budget.ts';
import type { TagsOfSource } from './query-tags.ts';
import type { PlannedRun } from './request-run.ts';

/**
 * Collects what running a plan needs of its request. Parts that only joins, remote schemas and actions use are omitted from other plans.
 * @param document text of the client's document; `null` if there is none
 * @param tags for comments of its statements
 */
export function runContext<Request>(run: PlannedRun<Request>, document: string | null, tags?: TagsOfSource): RunContext {
  const { pipeline, snapshot, session, plan, variables, options } = run;
  const { observeCost, joinBounds } = pipeline;
  const { budget } = options;
  let callsServers = plan.joins.length > 0;
  let callsHandlers = false;
  for (const { kind } of plan.steps) {
    if (kind === 'remote') callsServers = true;
    else if (kind === 'call') callsHandlers = true;
  }
  const isCalling = callsServers || callsHandlers;
  // One literal: spreading an object with this many properties costs more than everything else here.
  return {
    connections: snapshot.connections,
    session,
    variables,
    options,
    validateInput: pipeline.validateInput,
    onWritten: pipeline.onWritten,
    sources: snapshot.cache.sources,
    headers: options.headers,
    addStatements: options.budget?.addStatements,
    onExternalRequest: options.onExternalRequest,
    onCost:
      observeCost === undefined
        ? undefined
        : (source, cost) => observeCost({ kind: 'query-cost', requestId: options.requestId ?? '', source, ...cost, trace: options.trace }),
    actions: isCalling
      ? {
          call: pipeline.callHandler,
          usage: budget?.handlers ?? { bytes: 0, memory: options.reservation },
          asynchronous: pipeline.asynchronousCalls ?? null,
          query: document,
        }
      : undefined,
    joinBounds: isCalling
      ? { maxKeys: joinBounds.maxKeys, maxBytes: joinBounds.maxBytes, usage: budget?.joins ?? noJoinUsage() }
      : undefined,
    onCookie: isCalling ? options.onCookie : undefined,
    resultBudget: options.resultBudget ?? new OperationBudget(pipeline.responseLimit, options.reservation),
    tags,
    callRemote: callsServers ? pipeline.remotes(snapshot.remotes, budget?.answers ?? { bytes: 0, memory: options.reservation }) : undefined,
  };
}

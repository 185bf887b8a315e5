import { noJoinUse } from '../execute/holes.ts';
import type { RunContext } from '../execute/run-context.ts';
import { AnswerLimit } from './answer-limit.ts';
import type { TagsOfSource } from './query-tags.ts';
import type { PlannedRun } from './request-run.ts';

/**
 * Binds a plan to its request. Parts that only joins, remote schemas and actions need are made for these alone.
 * @param document text of the client's document; `null` if there is none
 * @param tags for comments of its statements
 */
export function runContext<Request>(run: PlannedRun<Request>, document: string | null, tags?: TagsOfSource): RunContext {
  const { pipeline, snapshot, session, plan, variables, how } = run;
  const { observeCost, joinBounds } = pipeline;
  const { budget } = how;
  let asksServers = plan.joins.length > 0;
  let callsHandlers = false;
  for (const { kind } of plan.steps) {
    if (kind === 'remote') asksServers = true;
    else if (kind === 'call') callsHandlers = true;
  }
  const isCalling = asksServers || callsHandlers;
  // One literal: spreading an object of so many parts costs more than everything else in here.
  return {
    connections: snapshot.connections,
    session,
    variables,
    how,
    validateInput: pipeline.validateInput,
    onWritten: pipeline.onWritten,
    sources: snapshot.cache.sources,
    headers: how.headers,
    addStatements: how.budget?.addStatements,
    onAsked: how.onAsked,
    onCost:
      observeCost === undefined
        ? undefined
        : (source, cost) => observeCost({ kind: 'query-cost', requestId: how.requestId ?? '', source, ...cost, trace: how.trace }),
    actions: isCalling
      ? {
          call: pipeline.callHandler,
          use: budget?.handlers ?? { bytes: 0, memory: how.hold },
          later: pipeline.laterCalls ?? null,
          query: document,
        }
      : undefined,
    joinBounds: isCalling ? { maxKeys: joinBounds.maxKeys, maxBytes: joinBounds.maxBytes, use: budget?.joins ?? noJoinUse() } : undefined,
    onCookie: isCalling ? how.onCookie : undefined,
    intake: how.intake ?? new AnswerLimit(pipeline.responseLimit, how.hold),
    tags,
    callRemote: asksServers ? pipeline.remotes(snapshot.remotes, budget?.answers ?? { bytes: 0, memory: how.hold }) : undefined,
  };
}

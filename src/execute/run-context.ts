import type { QueryTags } from '../backend/query-tags.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { ActionLog } from '../metadata-store/action-log.ts';
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import type { ResponseUsage } from '../webhooks/response-usage.ts';
import type { Session } from '../auth/session.ts';
import type { Source } from '../backend/backend.ts';
import type { ResultBudget } from '../backend/result-budget.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Json } from '../util/json.ts';
import { stopReasonOf } from '../util/deadline.ts';
import type { JoinBounds } from './placeholders.ts';
import type { InputValidator } from './input-validator.ts';
import type { RemoteCall, RemoteCaller } from '../remote-schema/client/remote-caller.ts';
import type { JsonRow, RunOptions, Statement, StatementCost } from '../backend/connection.ts';

/** Access to the calls of asynchronous actions. */
export interface AsynchronousCalls {
  readonly log: Pick<ActionLog, 'write' | 'read' | 'state' | 'stillWaiting'>;
  /** Maximum size of all results, together with the responses of handlers, for one client request, in bytes. */
  readonly maxResponseSize: number;
  /** Called after a call has been stored. */
  wake(): void;
}

/** Access that plans with actions need. */
export interface ActionAccess {
  readonly call: HandlerCaller;
  readonly usage: ResponseUsage;
  /** `null` if asynchronous actions are not available. */
  readonly asynchronous: AsynchronousCalls | null;
  /** Text of the client's document; `null` if there is none. */
  readonly query: string | null;
}

export interface ReadingOptions {
  /** If true, reads run in read-only transactions, whatever views and functions do. By default, the metadata decides what may write. */
  readonly readOnly?: boolean;
}

/** Input of a request for running a plan. */
export interface RunContext {
  readonly connections: ReadonlyMap<string, Source>;
  readonly session: Session;
  readonly variables: Variables;
  readonly options: RunOptions & ReadingOptions;
  /** Called before a mutation whose plan has validations. */
  readonly validateInput?: InputValidator;
  /** Called after a source has been written to, or may have been. */
  readonly onWritten?: (source: string) => void;
  /** Calls other GraphQL servers; required for plans with remote schemas. */
  readonly callRemote?: RemoteCaller;
  /** Calls handlers; required for plans with actions. */
  readonly actions?: ActionAccess;
  readonly joinBounds?: JoinBounds;
  /** Called before statements run that the plan does not contain; may throw `SvcError`. */
  readonly addStatements?: (count: number) => void;
  /** Called before every database or remote request. Until the first call, the request has had no side effects. */
  readonly onExternalRequest?: () => void;
  /** Called with the cost of a statement if the database charges for reads. */
  readonly onCost?: (source: string, cost: StatementCost) => void;
  /** Returns the query tags for statements on a source. */
  readonly tags?: (source: string) => QueryTags | undefined;
  /** Headers of the client's request. */
  readonly headers?: IncomingHttpHeaders;
  /** Sources with event triggers: their transactions store the trace context of the request. */
  readonly sources?: ReadonlyMap<string, Pick<SourceInfo, 'eventTriggers'>>;
  /** Called with cookies that other servers set for the client. */
  readonly onCookie?: (cookie: string) => void;
  /** Memory budget for query results; absent if they do not count. */
  readonly resultBudget?: ResultBudget;
}

/** A context with running totals for joins and responses. */
export interface BoundedContext extends RunContext {
  readonly joinBounds: Required<JoinBounds>;
}

/** Returns the options for a read-only statement on a source. */
export function readOptions(
  { options: { signal, deadline }, session, onCost, tags, resultBudget }: RunContext,
  source: string,
): RunOptions {
  const options: RunOptions = { signal, deadline, role: session.role, mayLag: true, tags: tags?.(source), resultBudget };
  return onCost === undefined ? options : { ...options, onCost: (cost) => onCost(source, cost) };
}

/** Runs a statement that reads. @throws SvcError, also if it writes although it must not */
export function runRead(
  context: RunContext,
  source: Source,
  statement: Statement,
  values: readonly (string | null)[],
  options: RunOptions,
): Promise<JsonRow> {
  if (context.options.readOnly !== true) return source.runJson(statement, values, options);
  return source.transaction({ readOnly: true, deadline: options.deadline }, (connection) => connection.runJson(statement, values, options));
}

/** @throws SvcError if the source is not open */
export function connectionOf(context: RunContext, name: string): Source {
  const source = context.connections.get(name);
  if (source === undefined) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`);
  return source;
}

/**
 * Returns a function that throws once the request is cancelled or its deadline has passed, for pauses while its response is printed.
 * @param isDone the changes of the request were committed
 */
export function lateCheck({ options }: RunContext, isDone: boolean): () => void {
  return () => {
    const reason = stopReasonOf(options);
    if (reason === null) return;
    const message = reason === 'abort' ? 'the request was cancelled' : 'the response was not printed in time';
    throw new SvcError('timeout', isDone ? `${message}; the changes were committed` : message);
  };
}

/** Calls a GraphQL server on behalf of the request and forwards its cookies. @returns the body. @throws SvcError remote-schema-error */
export async function callRemoteServer(context: RunContext, call: Pick<RemoteCall, 'remote' | 'document' | 'variables'>): Promise<Json> {
  const { callRemote, session, options, headers, onCookie } = context;
  invariant(callRemote !== undefined, 'a plan with remote schemas has access to them');
  const { body, cookies } = await callRemote({ ...call, session, options, ...(headers === undefined ? {} : { headers }) });
  if (onCookie !== undefined) for (const cookie of cookies) onCookie(cookie);
  return body;
}

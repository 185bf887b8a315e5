import type { QueryTags } from '../backend/query-tags.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { ActionLog } from '../metadata-store/action-log.ts';
import type { HandlerCaller } from '../webhooks/handler-call.ts';
import type { AnswerUse } from '../webhooks/answer-use.ts';
import type { Session } from '../auth/session.ts';
import type { Source } from '../backend/backend.ts';
import type { ResultBudget } from '../backend/result-budget.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Json } from '../util/json.ts';
import { latenessOf } from '../util/unless-late.ts';
import type { JoinBounds } from './holes.ts';
import type { InputValidator } from './input-validator.ts';
import type { RemoteCall, RemoteCaller } from '../remote-schema/client/remote-caller.ts';
import type { JsonRow, RunOptions, Statement, StatementCost } from '../backend/connection.ts';

/** Calls that are made later. */
export interface LaterCalls {
  readonly log: Pick<ActionLog, 'write' | 'read' | 'state' | 'stillWaiting'>;
  /** Bytes of all results, and answers of handlers, that one request of a client is told of. */
  readonly maxResponseSize: number;
  /** A call was written down. */
  wake(): void;
}

/** What a plan with actions needs. */
export interface ActionAccess {
  readonly call: HandlerCaller;
  readonly use: AnswerUse;
  /** null: there are no asynchronous actions. */
  readonly later: LaterCalls | null;
  /** The text of the client's document; null where there is none. */
  readonly query: string | null;
}

export interface ReadingOptions {
  /** What reads is run where nothing can be written, whatever views and functions do. Absent: what is written is for the metadata to say. */
  readonly writesNothing?: boolean;
}

/** What a request brings to a plan. */
export interface RunContext {
  readonly connections: ReadonlyMap<string, Source>;
  readonly session: Session;
  readonly variables: Variables;
  readonly how: RunOptions & ReadingOptions;
  /** Asked before a mutation whose plan has validations; absent where no such mutation runs. */
  readonly validateInput?: InputValidator;
  /** Hears that a source has been written to, or may have been. */
  readonly onWritten?: (source: string) => void;
  /** Asks other GraphQL servers; absent where no plan does. */
  readonly callRemote?: RemoteCaller;
  /** Calls handlers of actions; absent where no plan does. */
  readonly actions?: ActionAccess;
  readonly joinBounds?: JoinBounds;
  /** Hears of statements that the plan does not show, before they are run; may throw `SvcError`. */
  readonly addStatements?: (count: number) => void;
  /** Hears whenever a database or a server is asked: before, nothing has been done for the request. */
  readonly onAsked?: () => void;
  /** Hears what statements have read, where the database charges for that; absent: nobody wants to know. */
  readonly onCost?: (source: string, cost: StatementCost) => void;
  /** What statements on a source say of the request; absent: nothing. */
  readonly tags?: (source: string) => QueryTags | undefined;
  /** Of the client's request. */
  readonly headers?: IncomingHttpHeaders;
  /** What is known of the sources: transactions on those that capture events say by which request they are. */
  readonly sources?: ReadonlyMap<string, Pick<SourceInfo, 'eventTriggers'>>;
  /** Hears of cookies that other servers set for the client. */
  readonly onCookie?: (cookie: string) => void;
  /** What the answers of databases are kept in; absent: nobody counts them. */
  readonly intake?: ResultBudget;
}

/** The same while a plan runs: it counts what it takes. */
export interface BoundedContext extends RunContext {
  readonly joinBounds: Required<JoinBounds>;
}

/** How a statement that only reads is run on a source. */
export function readOptions({ how: { signal, deadline }, session, onCost, tags, intake }: RunContext, source: string): RunOptions {
  const how: RunOptions = { signal, deadline, turn: session.role, mayLag: true, tags: tags?.(source), intake };
  return onCost === undefined ? how : { ...how, onCost: (cost) => onCost(source, cost) };
}

/** Runs a statement that reads. @throws SvcError, also of a statement that writes where it must not */
export function runRead(
  { how }: RunContext,
  source: Source,
  statement: Statement,
  values: readonly (string | null)[],
  options: RunOptions,
): Promise<JsonRow> {
  if (how.writesNothing !== true) return source.runJson(statement, values, options);
  return source.transaction({ readOnly: true, deadline: options.deadline }, (connection) => connection.runJson(statement, values, options));
}

/** @throws SvcError where the source is not open */
export function connectionOf(context: RunContext, name: string): Source {
  const source = context.connections.get(name);
  if (source === undefined) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`);
  return source;
}

/**
 * Returns a function that throws once the request is cancelled or its deadline has passed, for the pauses of long work on its answer.
 * @param isDone the changes of the request were committed
 */
export function lateCheck({ how }: RunContext, isDone: boolean): () => void {
  return () => {
    const lateness = latenessOf(how);
    if (lateness === null) return;
    const message = lateness === 'abort' ? 'the request was cancelled' : 'the answer was not printed in time';
    throw new SvcError('timeout', isDone ? `${message}; the changes were committed` : message);
  };
}

/** Asks a server on behalf of the request, and hands its cookies on. @returns the body. @throws SvcError remote-schema-error */
export async function askRemote(context: RunContext, call: Pick<RemoteCall, 'remote' | 'document' | 'variables'>): Promise<Json> {
  const { callRemote, session, how, headers, onCookie } = context;
  invariant(callRemote !== undefined, 'whoever runs plans with remote schemas can call them');
  const { body, cookies } = await callRemote({ ...call, session, how, ...(headers === undefined ? {} : { headers }) });
  if (onCookie !== undefined) for (const cookie of cookies) onCookie(cookie);
  return body;
}

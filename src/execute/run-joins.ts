/** Runs the target of a join for its keys: one statement, or as many requests to a server as the keys need. */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { bindAll } from '../plan/bind.ts';
import type { RemoteJoinStep, SourceJoinStep } from '../plan/plan.ts';
import { bindRemote, joinCallKey, joinKeyOf, remoteBatchRequest, remoteJoinRequest } from '../plan/remote-request.ts';
import type { Bytes } from '../util/bytes.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { applyLayout } from '../util/json-layout.ts';
import { type JoinRunner, checkJoined, type Key } from './placeholders.ts';
import { answerParts, joinKeyText, RemoteAnswer } from './remote-answer.ts';
import { tracedStatement } from './traced.ts';
import { callRemoteServer, type BoundedContext, connectionOf, lateCheck, readOptions, type RunContext, runRead } from './run-context.ts';

/** Maximum number of keys of one request to a server without lists: each is a field of the document. */
const CALLS_PER_REQUEST = 100;
/** Maximum number of keys of one statement, or in one list. */
const KEYS_PER_LIST = 10_000;
/** Number of rows between two checks of the time. */
const ROWS_AT_ONCE = 256;
const NULL = 'null' as Bytes;

/** @param request context of the request whose plan has joins */
export function createJoinRunner(request: BoundedContext, placeholderName: string): JoinRunner {
  const run = (context: BoundedContext, ...[step, keys]: Parameters<JoinRunner>): ReturnType<JoinRunner> => {
    if (step.kind === 'source') return inChunks(keys, KEYS_PER_LIST, (chunk) => querySource(step, chunk, context, placeholderName));
    if (step.target.batch === undefined)
      return inChunks(keys, CALLS_PER_REQUEST, (chunk) => callByAlias(step, chunk, context, placeholderName));
    return inChunks(keys, KEYS_PER_LIST, (chunk) => callByList(step, chunk, context, placeholderName));
  };
  return async (step, keys) => {
    const { trace } = request.options;
    const span = trace?.isSampled === true ? trace.child('remote_join').set('svc.join.rows', keys.length) : null;
    const context = span === null ? request : { ...request, options: { ...request.options, trace: span } };
    try {
      return await run(context, step, keys);
    } catch (error) {
      span?.fail(toSvcError(error).code);
      // Errors without a path, such as an invalid key or an unavailable source, get that of the joined field.
      throw error instanceof SvcError && error.path === ROOT ? error.withPath(step.path) : error;
    } finally {
      span?.end();
    }
  };
}

async function inChunks(
  keys: readonly Key[],
  size: number,
  run: (keys: readonly Key[]) => Promise<readonly Bytes[]>,
): Promise<readonly Bytes[]> {
  if (keys.length <= size) return run(keys);
  const results: Bytes[] = [];
  // Sequentially: a join loads its target no more than any other request.
  for (let from = 0; from < keys.length; from += size) {
    for (const result of await run(keys.slice(from, from + size))) results.push(result);
  }
  return results;
}

async function querySource(
  { target, statement, binders, layout }: SourceJoinStep,
  keys: readonly Key[],
  context: BoundedContext,
  placeholderName: string,
): Promise<readonly Bytes[]> {
  const byPart = target.columns.map((_, part) => keys.map((key) => key[part] ?? null));
  const values = bindAll(binders, context.variables, context.session, { placeholderName, keys: byPart });
  const connection = connectionOf(context, target.source);
  const what = () => ({ source: target.source, verb: 'SELECT', collection: null, statements: 1, text: statement.text });
  const row = await tracedStatement(context.options, connection, what, () =>
    runRead(context, connection, statement, values, readOptions(context, target.source)),
  );
  const cell = (row[0] ?? []).join('') as Bytes;
  const results = cell.split(`${placeholderName};`) as Bytes[];
  if (layout === null) return results;
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    checkJoined(bytes, context.joinBounds);
  };
  return runCooperatively(
    (function* () {
      const printed: Bytes[] = [];
      for (const result of results) {
        const text = yield* applyLayout(result, layout, count);
        const pieces: Bytes[] = [];
        for (const piece of text.pieces()) {
          pieces.push(piece);
          yield;
        }
        printed.push(oneText(pieces));
      }
      return printed;
    })(),
    lateCheck(context, false),
  );
}

/** Returns the data of a server's response. @throws SvcError with the server's errors, which only administrators see */
async function callServer(
  { path, target }: RemoteJoinStep,
  document: string,
  variables: JsonObject,
  context: RunContext,
): Promise<JsonObject> {
  const { data, errors } = answerParts(await callRemoteServer(context, { remote: target.remote, document, variables }));
  if (errors.length > 0 || data === null) {
    throw new SvcError('unexpected', 'Errors from remote server', { status: 400, internal: { errors: [...errors] }, path });
  }
  return data;
}

/** Selects one field for each key. */
async function callByAlias(
  step: RemoteJoinStep,
  keys: readonly Key[],
  context: BoundedContext,
  placeholderName: string,
): Promise<readonly Bytes[]> {
  const { field, answer } = step.target;
  const request = remoteJoinRequest(field, keys.length);
  const data = await callServer(step, request.document, bindRemote(request, context.variables, context.session, keys), context);
  const print = new RemoteAnswer(placeholderName, context.joinBounds);
  return runCooperatively(
    (function* () {
      const results: Bytes[] = [];
      for (let call = 0; call < keys.length; call++) {
        results.push(oneText(yield* print.along(field, answer, data[joinCallKey(call)], step.path)));
      }
      return results;
    })(),
  );
}

/** Selects one field with a list of keys; the rows are matched by one of their fields. */
async function callByList(
  step: RemoteJoinStep,
  keys: readonly Key[],
  context: BoundedContext,
  placeholderName: string,
): Promise<readonly Bytes[]> {
  const { field, answer, batch } = step.target;
  const request = remoteBatchRequest(field);
  const data = await callServer(step, request.document, bindRemote(request, context.variables, context.session, keys), context);
  const print = new RemoteAnswer(placeholderName, context.joinBounds);
  const { last, value } = print.follow(field, answer, data[joinCallKey(0)], step.path);
  return runCooperatively(
    (function* () {
      const rows = new Map<string, Json[]>();
      for (const [index, row] of (isJsonArray(value) ? value : []).entries()) {
        if (index % ROWS_AT_ONCE === 0) yield;
        if (!isJsonObject(row)) continue;
        const key = joinKeyText(row[joinKeyOf({ name: batch?.matchBy ?? '' })] ?? null, step.path);
        if (key === null) continue;
        const sameKey = rows.get(key);
        if (sameKey === undefined) rows.set(key, [row]);
        else sameKey.push(row);
      }
      const results: Bytes[] = [];
      for (const [index, [key]] of keys.entries()) {
        if (index % ROWS_AT_ONCE === 0) yield;
        const found = rows.get(key ?? '');
        const row = batch?.rows === 'all' ? (found ?? []) : found?.[0];
        results.push(row === undefined ? NULL : oneText(yield* print.value(last, row, step.path, batch?.rows !== 'all')));
      }
      return results;
    })(),
  );
}

function oneText(pieces: readonly Bytes[]): Bytes {
  return pieces.join('') as Bytes;
}

/** Asks the target of a join for its keys: one statement, or as many requests to a server as the keys need. */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { bindAll } from '../plan/bind.ts';
import type { RemoteJoinStep, SourceJoinStep } from '../plan/plan.ts';
import { bindRemote, callKey, joinKeyOf, remoteBatchRequest, remoteJoinRequest } from '../plan/remote-request.ts';
import type { Bytes } from '../util/bytes.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { laidOut } from '../util/json-layout.ts';
import { type AskJoin, checkJoined, type Key } from './holes.ts';
import { answerParts, keyText, RemoteAnswer } from './remote-answer.ts';
import { tracedStatement } from './traced.ts';
import { askRemote, type BoundedContext, connectionOf, lateCheck, readOptions, type RunContext, runRead } from './run-context.ts';

/** Keys of one request to a server: each is a field of the document. */
const CALLS_PER_REQUEST = 100;
/** Keys of one statement, or in one list. */
const KEYS_IN_A_LIST = 10_000;
/** Between two looks at the clock. */
const ROWS_AT_ONCE = 256;
const NULL = 'null' as Bytes;

/** @param context of the request whose plan has joins */
export function joinAsker(given: BoundedContext, holeName: string): AskJoin {
  const ask = (context: BoundedContext, ...[step, keys]: Parameters<AskJoin>): ReturnType<AskJoin> => {
    if (step.kind === 'source') return inChunks(keys, KEYS_IN_A_LIST, (chunk) => askSource(step, chunk, context, holeName));
    if (step.target.batch === undefined) return inChunks(keys, CALLS_PER_REQUEST, (chunk) => askByAlias(step, chunk, context, holeName));
    return inChunks(keys, KEYS_IN_A_LIST, (chunk) => askByList(step, chunk, context, holeName));
  };
  return async (step, keys) => {
    const { trace } = given.how;
    const span = trace?.isSampled === true ? trace.child('remote_join').set('svc.join.rows', keys.length) : null;
    const context = span === null ? given : { ...given, how: { ...given.how, trace: span } };
    try {
      return await ask(context, step, keys);
    } catch (error) {
      span?.fail(toSvcError(error).code);
      // A key that is no value of the target's type, a source that is away: the field is what the client asked for.
      throw error instanceof SvcError && error.path === ROOT ? error.withPath(step.path) : error;
    } finally {
      span?.end();
    }
  };
}

async function inChunks(
  keys: readonly Key[],
  size: number,
  ask: (keys: readonly Key[]) => Promise<readonly Bytes[]>,
): Promise<readonly Bytes[]> {
  if (keys.length <= size) return ask(keys);
  const answers: Bytes[] = [];
  // One after another: a join takes no more of its target than any other request.
  for (let from = 0; from < keys.length; from += size) {
    for (const answer of await ask(keys.slice(from, from + size))) answers.push(answer);
  }
  return answers;
}

async function askSource(
  { target, statement, binders, layout }: SourceJoinStep,
  keys: readonly Key[],
  context: BoundedContext,
  holeName: string,
): Promise<readonly Bytes[]> {
  const byPart = target.columns.map((_, part) => keys.map((key) => key[part] ?? null));
  const values = bindAll(binders, context.variables, context.session, { holeName, keys: byPart });
  const connection = connectionOf(context, target.source);
  const what = () => ({ source: target.source, verb: 'SELECT', collection: null, statements: 1, text: statement.text });
  const row = await tracedStatement(context.how, connection, what, () =>
    runRead(context, connection, statement, values, readOptions(context, target.source)),
  );
  const cell = (row[0] ?? []).join('') as Bytes;
  const answers = cell.split(`${holeName};`) as Bytes[];
  if (layout === null) return answers;
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    checkJoined(bytes, context.joinBounds);
  };
  return inSlices(
    (function* () {
      const printed: Bytes[] = [];
      for (const answer of answers) {
        const made = yield* laidOut(answer, layout, count);
        const pieces: Bytes[] = [];
        for (const piece of made.pieces()) {
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

/** The data of a server's answer. @throws SvcError with the server's errors for those who may see them */
async function askServer(
  { path, target }: RemoteJoinStep,
  document: string,
  variables: JsonObject,
  context: RunContext,
): Promise<JsonObject> {
  const { data, errors } = answerParts(await askRemote(context, { remote: target.remote, document, variables }));
  if (errors.length > 0 || data === null) {
    throw new SvcError('unexpected', 'Errors from remote server', { status: 400, internal: { errors: [...errors] }, path });
  }
  return data;
}

/** A field for each key. */
async function askByAlias(
  step: RemoteJoinStep,
  keys: readonly Key[],
  context: BoundedContext,
  holeName: string,
): Promise<readonly Bytes[]> {
  const { field, answer } = step.target;
  const request = remoteJoinRequest(field, keys.length);
  const data = await askServer(step, request.document, bindRemote(request, context.variables, context.session, keys), context);
  const print = new RemoteAnswer(holeName, context.joinBounds);
  return inSlices(
    (function* () {
      const answers: Bytes[] = [];
      for (let call = 0; call < keys.length; call++) {
        answers.push(oneText(yield* print.along(field, answer, data[callKey(call)], step.path)));
      }
      return answers;
    })(),
  );
}

/** One field whose rows are told apart by one of their fields. */
async function askByList(step: RemoteJoinStep, keys: readonly Key[], context: BoundedContext, holeName: string): Promise<readonly Bytes[]> {
  const { field, answer, batch } = step.target;
  const request = remoteBatchRequest(field);
  const data = await askServer(step, request.document, bindRemote(request, context.variables, context.session, keys), context);
  const print = new RemoteAnswer(holeName, context.joinBounds);
  const { last, value } = print.follow(field, answer, data[callKey(0)], step.path);
  return inSlices(
    (function* () {
      const rows = new Map<string, Json[]>();
      for (const [index, row] of (isJsonArray(value) ? value : []).entries()) {
        if (index % ROWS_AT_ONCE === 0) yield;
        if (!isJsonObject(row)) continue;
        const key = keyText(row[joinKeyOf({ name: batch?.matchBy ?? '' })] ?? null, step.path);
        if (key === null) continue;
        const known = rows.get(key);
        if (known === undefined) rows.set(key, [row]);
        else known.push(row);
      }
      const answers: Bytes[] = [];
      for (const [index, [key]] of keys.entries()) {
        if (index % ROWS_AT_ONCE === 0) yield;
        const found = rows.get(key ?? '');
        const row = batch?.rows === 'all' ? (found ?? []) : found?.[0];
        answers.push(row === undefined ? NULL : oneText(yield* print.value(last, row, step.path, batch?.rows !== 'all')));
      }
      return answers;
    })(),
  );
}

function oneText(pieces: readonly Bytes[]): Bytes {
  return pieces.join('') as Bytes;
}

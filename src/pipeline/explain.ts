/** What a request would do: its statements and the plans that the database has for them. Nothing is run. */
import { ADMIN_ROLE, type Session } from '../auth/session.ts';
import { ROLE_VARIABLE } from '../auth/session-variables.ts';
import type { LiveQuery, Source } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { Value } from '../ir/value.ts';
import { refuseUnknownKeys } from '../metadata/unknown-keys.ts';
import { bindAll, binder } from '../plan/bind.ts';
import { planOperation } from '../plan/plan.ts';
import { type RemoteRequest, remoteJoinRequest, remoteRequest } from '../plan/remote-request.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { SourceRoot, TranslatedJoin, TranslatedOperation, TranslatedRoot } from '../graphql-engine/translation.ts';
import { groupBy } from '../util/group-by.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import { printFieldPath } from './field-path.ts';
import { prepare } from './prepare.ts';
import { decodeRequest, type GraphqlRequest, REQUEST_KEYS } from './request.ts';
import type { ResponseNode } from '../graphql-engine/types.ts';
import type { RunOptions, Statement } from '../backend/connection.ts';
import type { RequestPipeline, RequestSnapshot } from './request-pipeline.ts';

export interface ExplainRequest extends GraphqlRequest {
  /** For whom the request is explained. */
  readonly session: Session;
}

const KEYS_AROUND_REQUEST = ['query', 'user'];

/**
 * `{query, user?}` where `query` is a request, or its text with the other keys of a request beside it.
 * @throws SvcError parse-failed, also for other keys: a misspelt `user` would explain the request for admin
 */
export function decodeExplain(json: Json): ExplainRequest {
  if (!isJsonObject(json))
    throw new SvcError('parse-failed', 'parsing GQLExplain failed, expected Object, but encountered a different JSON value');
  const { query, user } = json;
  const isWhole = isJsonObject(query);
  const request = decodeRequest(isWhole ? query : json);
  refuseUnknownKeys(json, ROOT, { keys: isWhole ? KEYS_AROUND_REQUEST : [...REQUEST_KEYS, 'user'] });
  return { ...request, session: describedSession(user, at(ROOT, 'user')) };
}

/** The session of somebody whose variables an administrator says; admin without a role. @throws SvcError parse-failed */
export function describedSession(user: Json | undefined, path: Path): Session {
  const variables = new Map<string, string>();
  if (user !== undefined && user !== null) {
    if (!isJsonObject(user)) throw new SvcError('parse-failed', 'parsing HashMap failed, expected Object', { path });
    for (const [name, value] of Object.entries(user)) {
      if (typeof value !== 'string') throw new SvcError('parse-failed', 'parsing Text failed, expected String', { path: at(path, name) });
      variables.set(name.toLowerCase(), value);
    }
  }
  const role = variables.get(ROLE_VARIABLE) ?? ADMIN_ROLE;
  variables.set(ROLE_VARIABLE, role);
  return { role, variables, backendOnly: false };
}

interface Explaining {
  readonly pipeline: RequestPipeline;
  readonly snapshot: RequestSnapshot;
  readonly session: Session;
  readonly variables: Variables;
  readonly how: RunOptions;
}

/** @throws SvcError invalid-params for what has no plan */
export async function explain(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  request: ExplainRequest,
  how: RunOptions,
): Promise<Json> {
  const { session } = request;
  // An administrator asks, on behalf of another role: neither the allow-list nor the limits of that role are about it.
  const { operations } = pipeline;
  const { prepared } = prepare({ pipeline: { operations, allowList: null }, snapshot, session, request, how: {} }, null);
  if (prepared.kind === 'mutation') throw new SvcError('invalid-params', 'only queries can be explained');
  const variables = prepared.variables(request.variables, request.variableDepth);
  const operation = prepared.translate(variables);
  const explaining: Explaining = { pipeline, snapshot, session, variables, how };
  return prepared.kind === 'query' ? explainQuery(operation, explaining) : explainSubscription(operation, explaining);
}

async function explainQuery({ response, roots, joins }: TranslatedOperation, explaining: Explaining): Promise<Json> {
  const explained: Json[] = [];
  for (const { field, indexes } of fieldsOf(response)) {
    if (indexes.length === 0) explained.push({ field, sql: null, plan: null });
    const own = indexes.map((index) => roots[index] as TranslatedRoot);
    const ofSources = own.filter((root): root is SourceRoot => root.kind === 'source');
    for (const [source, part] of groupBy(ofSources, (root) => root.source)) {
      explained.push({ field, ...(await explainSelect(source, part, explaining)) });
    }
    for (const root of own) if (root.kind === 'action') explained.push({ field, action: root.root.name });
    for (const root of own) if (root.kind === 'remote') explained.push({ field, ...explainRemote(root.remote, remoteRequest(root.root)) });
  }
  for (const join of joins) explained.push({ field: printFieldPath(join.path), ...(await explainJoin(join, explaining)) });
  return explained;
}

function explainRemote(remote: string, { document }: RemoteRequest): JsonObject {
  return { remote_schema: remote, query: document };
}

/** As it is asked for no keys, or for one. */
async function explainJoin({ target, path }: TranslatedJoin, explaining: Explaining): Promise<JsonObject> {
  if (target.kind === 'remote') return explainRemote(target.remote, remoteJoinRequest(target.field, 1));
  const { pipeline, snapshot, session, variables, how } = explaining;
  const compiler = pipeline.compilerOf(snapshot, target.source);
  const statement = compiler.join?.(target);
  if (statement === undefined) throw new SvcError('not-supported', 'joins to this kind of source cannot be explained', { path });
  const joining = { holeName: '', keys: target.columns.map(() => []) };
  const values = bindAll(statement.parameters.map(binder), variables, session, joining);
  const plan = await sourceOf(snapshot, target.source).explain(statement, values, how);
  return { sql: compiler.inlined?.(statement, values) ?? statement.text, plan: [...plan] };
}

interface RootField {
  readonly field: string;
  /** Of the roots that answer it; none for what needs no database. */
  readonly indexes: readonly number[];
}

/** The fields of the response; those of a source's namespace count one by one. */
function fieldsOf(response: ResponseNode): readonly RootField[] {
  if (response.kind !== 'object') return [];
  return response.entries.flatMap(([field, node]) => {
    const indexes = rootsIn(node);
    if (node.kind !== 'object' || indexes.length === 0) return { field, indexes };
    return fieldsOf(node).map((inner) => ({ ...inner, field: `${field}.${inner.field}` }));
  });
}

function rootsIn(node: ResponseNode): readonly number[] {
  switch (node.kind) {
    case 'root':
      return [node.index];
    case 'object':
      return node.entries.flatMap(([, child]) => rootsIn(child));
    case 'list':
      return node.items.flatMap(rootsIn);
    default:
      return [];
  }
}

async function explainSelect(name: string, roots: readonly SourceRoot[], explaining: Explaining): Promise<JsonObject> {
  const { pipeline, snapshot, session, variables, how } = explaining;
  const compiler = pipeline.compilerOf(snapshot, name);
  const statement = compiler.select(selectsOf(roots));
  const values = bindAll(statement.parameters.map(binder), variables, session, { holeName: '', keys: [] });
  const plan = await sourceOf(snapshot, name).explain(statement, values, how);
  return { sql: compiler.inlined?.(statement, values) ?? statement.text, plan: [...plan] };
}

async function explainSubscription(operation: TranslatedOperation, explaining: Explaining): Promise<Json> {
  const { pipeline, snapshot, session, variables, how } = explaining;
  if (operation.roots.length === 0) throw new SvcError('not-found', 'no subscriptions found');
  const [step] = planOperation(operation, (source) => pipeline.compilerOf(snapshot, source)).steps;
  if (step?.kind === 'call') return { action: step.root.root.name };
  invariant(step?.kind === 'live', 'a subscription repeats one statement');
  const { query, source } = step;
  const values = bindAll(step.binders, variables, session);
  const batch = query.batch([values]);
  const statement: Statement = { text: batch.text, parameters: [], repeatable: true, columns: query.columns };
  const plan = await sourceOf(snapshot, source).explain(statement, batch.values, how);
  return { sql: query.text, plan: [...plan], variables: cohortVariables(query, values, session) };
}

/** The values by which the subscription shares its work with others: of the document, of the request, of the session. */
function cohortVariables({ parameters, cursor }: LiveQuery, values: readonly (string | null)[], session: Session): JsonObject {
  const synthetic: Json[] = [];
  const query: [string, Json][] = [];
  const mentioned = new Set<string>();
  parameters.forEach(({ operand: { value } }, i) => {
    const text = values[i] ?? null;
    if (value.kind === 'cursor') return;
    if (value.kind === 'variable') query.push([printReference(value), text]);
    else if (value.kind === 'session') mentioned.add(value.name);
    else if (value.kind === 'session-variables') for (const each of session.variables.keys()) mentioned.add(each);
    else synthetic.push(text);
  });
  const ofSession = [...mentioned].map((each) => [each, session.variables.get(each) ?? null] as const);
  return {
    synthetic,
    query: Object.fromEntries(query),
    session: Object.fromEntries(ofSession),
    ...(cursor === null ? {} : { cursor: values[cursor] ?? null }),
  };
}

function printReference({ name, path }: Extract<Value, { kind: 'variable' }>): string {
  return [name, ...path].join('.');
}

/** A query or subscription has no other roots. */
function selectsOf(roots: readonly TranslatedRoot[]): readonly SelectRoot[] {
  return roots.map(({ root }) => root as SelectRoot);
}

function sourceOf(snapshot: RequestSnapshot, name: string): Source {
  const source = snapshot.connections.get(name);
  if (source === undefined) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`, { status: 400 });
  return source;
}

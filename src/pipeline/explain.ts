/** Explains a request: its statements and the database's plans for them. Nothing is run. */
import { ADMIN_ROLE, type Session } from '../auth/session.ts';
import { ROLE_VARIABLE } from '../auth/session-variables.ts';
import type { LiveQuery, Source } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { Value } from '../ir/value.ts';
import { wrongType } from '../metadata/codec.ts';
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
import { prepare, requireTypes } from './prepare.ts';
import { decodeRequest, type GraphqlRequest, REQUEST_KEYS, requireText } from './request.ts';
import type { ResponseNode } from '../graphql-engine/types.ts';
import type { RunOptions, Statement } from '../backend/connection.ts';
import type { RequestPipeline, RequestSnapshot } from './request-pipeline.ts';

export interface ExplainRequest extends GraphqlRequest {
  /** Session that the request is explained for. */
  readonly session: Session;
}

const KEYS_AROUND_REQUEST = ['query', 'user', 'is_relay'];

/**
 * Decodes `{query, user?, is_relay?}`, where `query` is a request, or its text next to the other keys of a request.
 * @throws SvcError parse-failed, also for unknown keys: a misspelt `user` would explain the request for admin
 */
export function decodeExplain(json: Json): ExplainRequest {
  if (!isJsonObject(json))
    throw new SvcError('parse-failed', 'parsing GQLExplain failed, expected Object, but encountered a different JSON value');
  const { query, user, is_relay: isRelay } = json;
  const isWhole = isJsonObject(query);
  const request = requireText(decodeRequest(isWhole ? query : json));
  refuseUnknownKeys(json, ROOT, { keys: isWhole ? KEYS_AROUND_REQUEST : [...REQUEST_KEYS, ...KEYS_AROUND_REQUEST] });
  if (isRelay !== undefined && isRelay !== null && typeof isRelay !== 'boolean')
    throw wrongType('Bool', 'Boolean', isRelay, at(ROOT, 'is_relay'));
  return { ...request, api: isRelay === true ? 'relay' : 'graphql', session: sessionOfUser(user, at(ROOT, 'user')) };
}

/** Decodes session variables that an administrator sends; the role defaults to admin. @throws SvcError parse-failed */
export function sessionOfUser(user: Json | undefined, path: Path): Session {
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
  readonly options: RunOptions;
}

/** @throws SvcError invalid-params if the operation has no plan */
export async function explain(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  request: ExplainRequest,
  options: RunOptions,
): Promise<Json> {
  const { session } = request;
  // The administrator runs it on behalf of the role, so the role's allow-list and limits do not apply.
  const { operations } = pipeline;
  const { prepared } = prepare({ pipeline: { operations, allowList: null }, snapshot, session, request, options: {} }, null);
  if (prepared.kind === 'mutation') throw new SvcError('invalid-params', 'only queries can be explained');
  const variables = prepared.variables(request.variables, request.variableDepth);
  const operation = prepared.translate(variables);
  if (operation.unmatchedTypes.length > 0) await requireTypes({ snapshot, session, request }, operation.unmatchedTypes);
  const explaining: Explaining = { pipeline, snapshot, session, variables, options };
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

/** Explains a join for one key, or for none. */
async function explainJoin({ target, path }: TranslatedJoin, explaining: Explaining): Promise<JsonObject> {
  if (target.kind === 'remote') return explainRemote(target.remote, remoteJoinRequest(target.field, 1));
  const { pipeline, snapshot, session, variables, options } = explaining;
  const compiler = pipeline.compilerOf(snapshot, target.source);
  const statement = compiler.join?.(target);
  if (statement === undefined) throw new SvcError('not-supported', 'joins to this kind of source cannot be explained', { path });
  const joining = { placeholderName: '', keys: target.columns.map(() => []) };
  const values = bindAll(statement.parameters.map(binder), variables, session, joining);
  const plan = await sourceOf(snapshot, target.source).explain(statement, values, options);
  return { sql: compiler.inlined?.(statement, values) ?? statement.text, plan: [...plan] };
}

interface RootField {
  readonly field: string;
  /** Indexes of the roots that provide the field; empty if it needs no database. */
  readonly indexes: readonly number[];
}

/** Returns the fields of the response; those in the namespace of a source are listed one by one. */
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
  const { pipeline, snapshot, session, variables, options } = explaining;
  const compiler = pipeline.compilerOf(snapshot, name);
  const statement = compiler.select(selectsOf(roots));
  const values = bindAll(statement.parameters.map(binder), variables, session, { placeholderName: '', keys: [] });
  const plan = await sourceOf(snapshot, name).explain(statement, values, options);
  return { sql: compiler.inlined?.(statement, values) ?? statement.text, plan: [...plan] };
}

async function explainSubscription(operation: TranslatedOperation, explaining: Explaining): Promise<Json> {
  const { pipeline, snapshot, session, variables, options } = explaining;
  if (operation.roots.length === 0) throw new SvcError('not-found', 'no subscriptions found');
  const [step] = planOperation(operation, (source) => pipeline.compilerOf(snapshot, source)).steps;
  if (step?.kind === 'call') return { action: step.root.root.name };
  invariant(step?.kind === 'live', 'a subscription repeats one statement');
  const { query, source } = step;
  const values = bindAll(step.binders, variables, session);
  const batch = query.batch([values]);
  const statement: Statement = { text: batch.text, parameters: [], repeatable: true, columns: query.columns };
  const plan = await sourceOf(snapshot, source).explain(statement, batch.values, options);
  return { sql: query.text, plan: [...plan], variables: cohortVariables(query, values, session) };
}

/** Returns the values that select the subscription's cohort: constants of the document, variables, and session variables. */
function cohortVariables({ parameters, cursor }: LiveQuery, values: readonly (string | null)[], session: Session): JsonObject {
  const synthetic: Json[] = [];
  const query: [string, Json][] = [];
  const sessionVariables = new Set<string>();
  parameters.forEach(({ operand: { value } }, i) => {
    const text = values[i] ?? null;
    if (value.kind === 'cursor') return;
    if (value.kind === 'variable') query.push([printReference(value), text]);
    else if (value.kind === 'session') sessionVariables.add(value.name);
    else if (value.kind === 'session-variables') for (const each of session.variables.keys()) sessionVariables.add(each);
    else synthetic.push(text);
  });
  const ofSession = [...sessionVariables].map((each) => [each, session.variables.get(each) ?? null] as const);
  return {
    synthetic,
    query: Object.fromEntries(query),
    session: Object.fromEntries(ofSession),
    ...(cursor === null ? {} : { cursor: values[cursor] ?? null }),
  };
}

function printReference({ name, path, part }: Extract<Value, { kind: 'variable' }>): string {
  return [name, ...path, ...(part === undefined ? [] : [part])].join('.');
}

/** Queries and subscriptions have select roots only. */
function selectsOf(roots: readonly TranslatedRoot[]): readonly SelectRoot[] {
  return roots.map(({ root }) => root as SelectRoot);
}

function sourceOf(snapshot: RequestSnapshot, name: string): Source {
  const source = snapshot.connections.get(name);
  if (source === undefined) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`, { status: 400 });
  return source;
}

/**
 * Prepares the plan for a request from HTTP, a REST endpoint, a socket, explain, or the data operations. Two steps, because the kind of
 * the operation is needed before planning: `prepare` parses the document, `planOperationFor` plans it for its variables. Both use the
 * operation cache.
 */
import { isAdmin, type Session } from '../auth/session.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { SvcError, type TextLocation } from '../errors/svc-error.ts';
import { documentProblems } from '../schema/stored/document-problems.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { SelectRoot } from '../ir/select.ts';
import { spanTime } from '../observability/tracing/span.ts';
import { type OperationPlan, planOperation } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import { locationsOf, operationLocations, variableLocations } from '../graphql-engine/document/locate.ts';
import { VariableError } from '../graphql-engine/variables.ts';
import type { RoleSchema, UnmatchedType } from '../graphql-engine/translation.ts';
import type { RootTypes } from '../graphql-engine/types.ts';
import { type Path, ROOT } from '../util/path.ts';
import { checkSize, type RoleLimits } from './api-limits.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';
import { RequestSize } from './request-size.ts';
import type { RequestPipeline, RequestSnapshot } from './request-pipeline.ts';
import type { RequestOptions, RequestRun } from './request-run.ts';

/** Returns the schema for a session at an endpoint. */
export function schemaOf(snapshot: Pick<RequestSnapshot, 'roleSchema'>, session: Session, api: SchemaApi): RoleSchema {
  return snapshot.roleSchema(session.role, session.backendOnly ? 'backend' : 'frontend', api);
}

type Document = Pick<GraphqlRequest, 'query' | 'operationName' | 'api' | 'document' | 'refusal'>;

/** The parts of a run that its errors need. */
interface FailedRun {
  readonly pipeline: Pick<RequestPipeline, 'limits'>;
  readonly snapshot: Pick<RequestSnapshot, 'roleSchema'>;
  readonly session: Session;
  readonly request: Document | DataRequest;
}

/**
 * Returns an error as the client sees it: with positions in its document, and redacted if the role has no introspection. Errors quote the
 * document, and its id may be guessed. So a client that has not sent its text gets the error of an unknown id if the role cannot run it.
 */
export function clientError(thrown: unknown, run: FailedRun): unknown {
  if (!(thrown instanceof SvcError)) return thrown;
  const document = 'query' in run.request ? run.request : null;
  if (document === null) return redacted(thrown, run, 'graphql');
  const refusal = document.document?.refusal;
  if (refusal !== undefined && isAboutDocument(thrown, run, document)) return refusal.withInternal({ message: thrown.message });
  const error = redacted(thrown, run, document.api);
  if (error.locations !== undefined) return error;
  const locations = positionsIn(document, error);
  return locations.length === 0 ? error : error.withLocations(locations);
}

function redacted(error: SvcError, { snapshot, session }: FailedRun, api: SchemaApi): SvcError {
  return schemaOf(snapshot, session, api).introspectionDisabled ? error.redacted() : error;
}

/** Codes of errors that a document may have in the schema of a role. */
const DOCUMENT_CODES: ReadonlySet<ErrorCode> = new Set(['constraint-violation', 'not-supported', 'parse-failed', 'validation-failed']);

/** Values of variables have the same errors, so the document is checked without them. */
function isAboutDocument(error: SvcError, { pipeline, snapshot, session }: FailedRun, { document, api }: Document): boolean {
  const stored = document?.stored?.query;
  if (stored === undefined || error instanceof VariableError || !DOCUMENT_CODES.has(error.code)) return false;
  const roots = (): RootTypes => schemaOf(snapshot, session, api).roots;
  return documentProblems(stored, { graphql: roots, relay: roots }, pipeline.limits).length > 0;
}

/** Codes of errors of a statement, which often does not say which of its values is wrong. */
const STATEMENT_CODES: ReadonlySet<ErrorCode> = new Set([
  'bad-request',
  'concurrent-update',
  'constraint-error',
  'constraint-violation',
  'data-exception',
  'permission-error',
  'unexpected',
]);

function positionsIn({ query, operationName }: Document, error: SvcError): readonly TextLocation[] {
  if (error instanceof VariableError) return variableLocations(query, operationName, error.variable);
  const isOfStatement = error.path === ROOT && STATEMENT_CODES.has(error.code);
  return isOfStatement ? operationLocations(query, operationName) : locationsOf(query, operationName, error.path);
}

/** The parts of a run that its document needs. */
interface DocumentRun {
  readonly pipeline: Pick<RequestPipeline, 'allowList' | 'operations'>;
  readonly snapshot: Pick<RequestSnapshot, 'roleSchema'> & { readonly storedOperations: Pick<StoredOperations, 'allows' | 'document'> };
  readonly session: Session;
  readonly request: Document;
  readonly options: Pick<RequestOptions, 'budget' | 'trace'>;
}

/**
 * Parses and validates a document within the allow-list and the limits of documents, of the role and of the batch. Plans nothing and
 * reads no variable; `prepared.kind` of the result is the kind of the operation.
 * @param limits of the role; `null` if it has none
 * @throws SvcError
 */
export function prepare({ pipeline, snapshot, session, request, options }: DocumentRun, limits: RoleLimits | null): CachedOperation {
  const { budget, trace } = options;
  if (request.refusal !== undefined) throw request.refusal;
  const schema = schemaOf(snapshot, session, request.api);
  pipeline.allowList?.check(snapshot.storedOperations, session, request);
  budget?.addDocument(request.query);
  const { operations } = pipeline;
  const began = trace?.isSampled === true ? { at: spanTime(), misses: operations.counts.operationMisses } : null;
  const operation = operations.operation(schema, request.query, request.operationName, request.document?.stored?.query);
  if (began !== null && operations.counts.operationMisses > began.misses) trace?.child('graphql.parse', 'internal', began.at).end();
  const { size } = operation.prepared;
  if (limits !== null) checkSize(limits, size);
  budget?.addSize(size);
  return operation;
}

/** The parts of a run that a plan needs. */
interface PlanningRun {
  readonly pipeline: Pick<RequestPipeline, 'operations' | 'compilerOf' | 'registeredTexts'>;
  readonly snapshot: RequestSnapshot;
  readonly request: Pick<GraphqlRequest, 'query' | 'document'>;
  readonly options: Pick<RequestOptions, 'budget' | 'trace'>;
}

/**
 * Returns the plan of an operation for variables of this shape.
 * @param variables result of `operation.prepared.variables`
 * @throws SvcError
 */
export function planOperationFor(
  { pipeline, snapshot, request, options }: PlanningRun,
  operation: CachedOperation,
  variables: Variables,
): OperationPlan {
  const { budget, trace } = options;
  const plan = pipeline.operations.plan(operation, variables, () => {
    const span = trace?.isSampled === true ? trace.child('graphql.plan') : undefined;
    try {
      const translated = operation.prepared.translate(variables);
      budget?.addParts(translated.parts);
      return planOperation(translated, (source) => pipeline.compilerOf(snapshot, source));
    } finally {
      span?.end();
    }
  });
  budget?.addPlan(plan);
  // Only texts that are valid for their role are registered.
  if (request.document?.via === 'persistedQuery' && request.document.stored === null)
    pipeline.registeredTexts?.add(request.document.id, request.query);
  return plan;
}

/**
 * Checks the types of fragments that selected nothing. Not while metadata is inconsistent: the types of an unavailable source are missing
 * then, and a valid request must not become invalid by that.
 * @throws SvcError validation-failed if the role's schema lacks one
 */
export async function requireTypes(
  {
    snapshot,
    session,
    request,
  }: Pick<DocumentRun, 'session' | 'request'> & { readonly snapshot: Pick<RequestSnapshot, 'cache' | 'roleSchema'> },
  types: readonly UnmatchedType[],
): Promise<void> {
  const { unavailable, inconsistencies } = snapshot.cache;
  if (unavailable.sources.length > 0 || inconsistencies.length > 0) return;
  return schemaOf(snapshot, session, request.api).requireTypes(types);
}

/** A data operation on rows of one source, without a document. */
export interface DataRequest {
  readonly source: string;
  /** Path for errors. */
  readonly path: Path;
  /** @param size counts what is translated @throws SvcError */
  translate(size: RequestSize): SelectRoot | MutationRoot;
}

/** Returns the plan of a data operation, within the same limits. The allow-list cannot contain data operations. @throws SvcError */
export function planData(
  { pipeline, snapshot, session, request, options }: RequestRun<DataRequest>,
  limits: RoleLimits | null,
): OperationPlan {
  const { source, path, translate } = request;
  if (pipeline.allowList !== null && !isAdmin(session)) {
    throw new SvcError('access-denied', 'only operations of the allow-list are allowed', { path });
  }
  const counter = new RequestSize(pipeline.limits);
  const root = translate(counter);
  const size = counter.size();
  if (limits !== null) checkSize(limits, size);
  options.budget?.addSize(size);
  const plan = planOperation(
    {
      kind: root.mutation === undefined ? 'query' : 'mutation',
      name: null,
      response: { kind: 'root', index: 0 },
      joins: [],
      roots: [{ kind: 'source', source, path, responseKey: root.alias, root }],
      constraints: [],
      reusable: false,
    },
    (name) => pipeline.compilerOf(snapshot, name),
  );
  options.budget?.addPlan(plan);
  return plan;
}

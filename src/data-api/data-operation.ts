import { isAdmin, type Session } from '../auth/session.ts';
import type { Backend } from '../backend/backend.ts';
import type { QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { RequestSize } from '../pipeline/request-size.ts';
import { type CheckedDataRequest, runDataRequest } from '../pipeline/run-data-request.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { SelectRoot } from '../ir/select.ts';
import { type Codec, required } from '../metadata/codec.ts';
import { printName } from '../metadata/table-name.ts';
import type { OperationPlan } from '../plan/plan.ts';
import type { Parameter } from '../sql/fragment.ts';
import { textOfBytes } from '../util/bytes.ts';
import { type Json, parseJson } from '../util/json.ts';
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import { type OperationAnswer, PrintedJson } from '../metadata-api/answer.ts';
import { type Documentation, operation, type OperationGroup, type OperationContext } from '../metadata-api/operation.ts';
import { databaseErrors, type OperationErrors, TABLE_ERRORS } from '../metadata-api/operation-error.ts';
import { requireOpenSource, sourceArgument } from '../metadata-api/target.ts';
import { type DataContext, refuseTable } from './data-context.ts';
import type { RowAction } from './data-names.ts';

/** Arguments of every data operation. */
export interface DataTarget {
  readonly table: QualifiedName;
  readonly source: string;
}

export function targetFields(backend: Backend) {
  return { table: required(backend.tableName), source: sourceArgument };
}

export interface DataOperation<A extends DataTarget> {
  readonly type: string;
  /** Permission that the role needs. */
  readonly action: RowAction;
  /** End of the error message if the role lacks it. */
  readonly because?: string;
  args(backend: Backend): Codec<A>;
  readonly changes: 'database' | 'nothing';
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** @throws SvcError */
  root(args: A, context: DataContext): SelectRoot | MutationRoot;
  /** Makes the answer from the parsed result of the root. Defaults to the result, unparsed. */
  answer?(result: Json): Json;
}

/** Makes the operation for sources of the default kind, the only one that data operations support. */
export function dataOperation<A extends DataTarget>(definition: DataOperation<A>): OperationGroup {
  return (backends) =>
    backends
      .filter((backend) => backend.kind === DEFAULT_SOURCE_KIND)
      .map((backend) =>
        operation<A>({
          type: definition.type,
          args: definition.args(backend),
          changes: definition.changes,
          errors: [...TABLE_ERRORS, ...definition.errors, ...databaseErrors(backend)],
          documentation: definition.documentation,
          run: (args, context) => run(definition, args, backend, context),
        }),
      );
}

async function run<A extends DataTarget>(
  definition: DataOperation<A>,
  args: A,
  backend: Backend,
  context: OperationContext,
): Promise<OperationAnswer> {
  const { services, snapshot, session, path, requestOptions } = context;
  const request: CheckedDataRequest = {
    source: args.source,
    path,
    translate: (size) => definition.root(args, contextOf(definition, args, backend, context, size)),
    check: (plan) => requireSessionVariables(plan, session),
  };
  const result = await runDataRequest({ pipeline: services.pipeline, snapshot, session, request, options: requestOptions });
  return definition.answer === undefined ? new PrintedJson(result) : definition.answer(parseJson(textOfBytes(result)));
}

/** @throws SvcError if the table does not exist, or is invisible to the role */
function contextOf<A extends DataTarget>(
  { action, because }: DataOperation<A>,
  { source, table: name }: A,
  backend: Backend,
  { snapshot, session, path }: OperationContext,
  size: RequestSize,
): DataContext {
  const { role, backendOnly } = session;
  if (isAdmin(session)) requireOpenSource(source, backend, snapshot);
  const isOfKind = snapshot.cache.sources.get(source)?.backend.kind === backend.kind;
  const tables = isOfKind ? snapshot.roleTables(role, backendOnly ? 'backend' : 'frontend', source) : null;
  const printedTable = printName(name, backend.defaultSchema);
  const table = tables?.table(name) ?? null;
  if (tables === null || table === null) throw refuseTable(role, printedTable, action, path, because);
  return { requester: { role, tables, size }, table, printedTable, path };
}

/** @throws SvcError not-found */
function requireSessionVariables(plan: OperationPlan, { variables }: Session): void {
  for (const parameter of parametersOf(plan)) {
    const { value } = parameter.operand;
    if (value.kind === 'session' && !variables.has(value.name)) {
      throw new SvcError('not-found', `"${value.name}" header is expected but not found`);
    }
  }
}

function parametersOf({ steps }: OperationPlan): readonly Parameter[] {
  return steps.flatMap((step) =>
    step.kind === 'mutation'
      ? step.statements.flatMap(({ statement }) => statement.parameters)
      : step.kind === 'select'
        ? step.statement.parameters
        : [],
  );
}

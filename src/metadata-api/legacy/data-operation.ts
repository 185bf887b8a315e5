import type { Backend } from '../../backend/backend.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import { invariant } from '../../errors/svc-error.ts';
import type { MutationRoot } from '../../ir/mutation.ts';
import type { SelectRoot } from '../../ir/select.ts';
import { type Codec, required } from '../../metadata/codec.ts';
import type { TableInfo } from '../../schema-cache/schema-cache.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { type Documentation, operation, type OperationGroup, type RunContext } from '../operation.ts';
import { DATABASE_ERRORS, type OperationErrors, TABLE_ERRORS } from '../operation-error.ts';
import { openSource, sourceArgument } from '../target.ts';
import { DEFAULT_LIMITS } from '../../schema/engine.ts';
import { SelectionSize } from './selection-size.ts';
import { runRoot } from './run-root.ts';
import { type Reader, trackedTable } from './table-access.ts';

/** The only kind that the legacy API is about. */
const KIND = 'pg';

/** Every data operation names a table of a source. */
export interface Target {
  readonly table: QualifiedName;
  readonly source: string;
}

export function targetFields(backend: Backend) {
  return { table: required(backend.tableName), source: sourceArgument };
}

/** What a data operation works with besides its arguments. */
export interface DataContext {
  readonly reader: Reader;
  readonly info: TableInfo;
  /** Whether permissions for trusted requests only count. */
  readonly backendOnly: boolean;
  /** Of the arguments. */
  readonly path: Path;
}

export interface DataOperation<A extends Target> {
  readonly type: string;
  args(backend: Backend): Codec<A>;
  readonly changes: 'database' | 'nothing';
  readonly errors: OperationErrors;
  readonly documentation: Documentation;
  /** @throws SvcError */
  root(args: A, context: DataContext): SelectRoot | MutationRoot;
  /** The answer, from the result of the root; that result itself when absent. */
  answer?(result: Json): Json;
}

/** The operation for the backend that the legacy API is about. */
export function dataOperation<A extends Target>(definition: DataOperation<A>): OperationGroup {
  return (backends) =>
    backends
      .filter((backend) => backend.kind === KIND)
      .map((backend) =>
        operation<A>({
          type: definition.type,
          args: definition.args(backend),
          changes: definition.changes,
          errors: [...TABLE_ERRORS, ...definition.errors, ...DATABASE_ERRORS],
          documentation: definition.documentation,
          run: (args, context) => run(definition, args, backend, context),
        }),
      );
}

async function run<A extends Target>(definition: DataOperation<A>, args: A, backend: Backend, context: RunContext): Promise<Json> {
  const { snapshot, session, path } = context;
  openSource(args.source, backend, snapshot);
  const source = snapshot.cache.sources.get(args.source);
  invariant(source !== undefined, 'an open source is in the schema cache');
  const reader: Reader = { source, role: session.role, size: new SelectionSize(DEFAULT_LIMITS) };
  const info = trackedTable(reader, args.table, at(path, 'table'));
  const result = await runRoot(definition.root(args, { reader, info, backendOnly: session.backendOnly, path }), args.source, context);
  return definition.answer === undefined ? result : definition.answer(result);
}

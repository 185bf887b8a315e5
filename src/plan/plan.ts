/** Turns IR into steps. A plan holds no values of a request, so it serves every request that fits its constraints. */
import type { CompiledMutation, CompiledMutationStatement, Compiler, LiveQuery, ResultPiece } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { InputValidation } from '../ir/input-validation.ts';
import type { JoinToRemoteSchema, JoinToSource } from '../ir/remote-join.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { Constraint } from '../graphql-engine/constraint.ts';
import type {
  HandlerRoot,
  RemoteSchemaRoot,
  SourceRoot,
  TranslatedJoin,
  TranslatedOperation,
  UnmatchedType,
} from '../graphql-engine/translation.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import type { JsonLayout } from '../util/json-layout.ts';
import { type Path, ROOT } from '../util/path.ts';
import { type Binder, binder } from './bind.ts';
import { planReads } from './plan-reads.ts';
import { type RemoteRequest, remoteRequest } from './remote-request.ts';
import { type DistinctRoots, distinctOutput, distinctQuery, distinctRoots, expectedBytes } from './repeats.ts';
import { validationsOf } from './validations.ts';
import type { CacheDirective } from '../graphql-engine/cache-directive.ts';
import type { ResponseNode } from '../graphql-engine/types.ts';
import type { Statement } from '../backend/connection.ts';

export interface OperationPlan {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly constraints: readonly Constraint[];
  /** False if the plan holds data of one request. */
  readonly reusable: boolean;
  /** The response's `data`, with the places of results. */
  readonly template: readonly TemplatePart[];
  readonly steps: readonly PlanStep[];
  /** Indexed by the number in placeholders. A join runs if an answer has its placeholder, after the step of that answer. */
  readonly joins: readonly JoinStep[];
  /** Hooks that have to accept the input before the first step. */
  readonly validations: readonly InputValidation[];
  /** Expected size of the answer in bytes, as far as the document shows; absent if it shows nothing. */
  readonly expected?: number;
  /** Undefined if the answer must not be cached. */
  readonly cached?: CacheDirective;
  /** Tables and functions of sources that the plan reads, as `planReads` returns them; only for plans whose answers may be cached. */
  readonly reads?: ReadonlySet<string>;
  /** See `TranslatedOperation`; absent if there are none. */
  readonly unmatchedTypes?: readonly UnmatchedType[];
}

export type TemplatePart =
  | Bytes
  | CellPart
  /** JSON of the parts in the layout: values that were read once are printed under all of their names. */
  | { readonly layout: JsonLayout; readonly of: readonly (Bytes | CellPart)[] }
  | { readonly produce: () => Promise<readonly Bytes[]> };

/** A cell of a step's row; `absent` replaces NULL and a missing row. */
export interface CellPart {
  readonly step: number;
  readonly column: number;
  readonly absent: Bytes;
}

/** Steps of a query run concurrently, those of a mutation in order. */
export type PlanStep = SelectStep | MutationStep | RemoteStep | CallStep | LiveStep;

/** One statement on one source that answers one or more root fields, a column each. */
export interface SelectStep {
  readonly kind: 'select';
  readonly source: string;
  /** Table that its only root reads, such as `shop.author`, for logs; `null` for several roots and for functions. */
  readonly collection: string | null;
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Response keys of its root fields. */
  readonly responseKeys: readonly string[];
}

/** The statement that a subscription repeats; its only step. */
export interface LiveStep {
  readonly kind: 'live';
  readonly source: string;
  readonly query: LiveQuery;
  readonly binders: readonly Binder[];
  /** Response keys of its root fields. */
  readonly responseKeys: readonly string[];
}

/** One request to another server. Its row is one cell. */
export interface RemoteStep {
  readonly kind: 'remote';
  readonly remote: string;
  readonly request: RemoteRequest;
  readonly root: RemoteSchemaRoot;
}

/** A call of the handler of an action. Its row is one cell. */
export interface CallStep {
  readonly kind: 'call';
  readonly root: HandlerRoot;
}

export type JoinStep = SourceJoinStep | RemoteJoinStep;

/** One statement for all keys. */
export interface SourceJoinStep {
  readonly kind: 'source';
  readonly path: Path;
  readonly target: JoinToSource;
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** Layout of the answer to each key; `null` if that is already as the database prints it. */
  readonly layout: JsonLayout | null;
}

/** The number of requests depends on the number of keys. */
export interface RemoteJoinStep {
  readonly kind: 'remote';
  readonly path: Path;
  readonly target: JoinToRemoteSchema;
}

/** Consecutive root fields on one source: one transaction. Its row is the concatenated rows of its statements. */
export interface MutationStep {
  readonly kind: 'mutation';
  readonly source: string;
  /** See `SelectStep`. */
  readonly collection: string | null;
  /** The operation of its only root, in SQL terms; null if there are several. */
  readonly verb: 'INSERT' | 'UPDATE' | 'DELETE' | null;
  readonly statements: readonly BoundStatement[];
  /** See `CompiledMutation`. @throws SvcError */
  readonly fallback?: () => readonly BoundStatement[];
}

export interface BoundStatement extends CompiledMutationStatement {
  readonly binders: readonly Binder[];
}

type ResultPlace = Exclude<TemplatePart, string>;
type ResultPart = string | ResultPlace;

type PlannedOperation = Omit<TranslatedOperation, 'parts' | 'unmatchedTypes'> & Partial<Pick<TranslatedOperation, 'unmatchedTypes'>>;

/** @param compilerOf returns the compiler of a source's kind */
export function planOperation(operation: PlannedOperation, compilerOf: (source: string) => Compiler): OperationPlan {
  const { kind, constraints, reusable, cached, unmatchedTypes = [] } = operation;
  const { steps, results, expected: expectedOfSteps } = PLANNERS[kind](operation, compilerOf);
  const validations = operation.roots.flatMap(({ root }) => (root.mutation === undefined ? [] : validationsOf(root)));
  const joins = operation.joins.map((join) => planJoin(join, compilerOf));
  let expected = expectedOfSteps;
  for (const join of joins) if (join.kind === 'source') expected += expectedBytes([join.target], Number.POSITIVE_INFINITY);
  return {
    kind,
    constraints,
    reusable,
    template: template(operation.response, results),
    steps,
    joins,
    validations,
    ...(expected === 0 ? {} : { expected }),
    ...(cached === undefined ? {} : { cached, reads: planReads(operation) }),
    ...(unmatchedTypes.length === 0 ? {} : { unmatchedTypes }),
  };
}

/** @throws SvcError not-supported if the kind of the target does not support joins */
function planJoin({ path, target: translated }: TranslatedJoin, compilerOf: (source: string) => Compiler): JoinStep {
  if (translated.kind === 'remote') return { kind: 'remote', path, target: translated };
  const { query, layout } = distinctQuery(translated.query);
  const target: JoinToSource = layout === null ? translated : { ...translated, query };
  const statement = compilerOf(target.source).join?.(target);
  if (statement === undefined) {
    throw new SvcError('not-supported', `source ${target.source} does not support being used as the target of a remote relationship`, {
      path,
    });
  }
  return { kind: 'source', path, target, statement, binders: statement.parameters.map(binder), layout };
}

/** Adds a step whose row is one cell. */
function planCall(root: RemoteSchemaRoot | HandlerRoot, steps: PlanStep[]): readonly ResultPart[] {
  const piece: ResultPart = { step: steps.length, column: 0, absent: NULL };
  steps.push(
    root.kind === 'action' ? { kind: 'call', root } : { kind: 'remote', remote: root.remote, request: remoteRequest(root.root), root },
  );
  return [piece];
}

interface Planned {
  readonly steps: readonly PlanStep[];
  /** Parts of the response, by root. */
  readonly results: readonly (readonly ResultPart[])[];
  /** See `OperationPlan`. */
  readonly expected: number;
}

const NULL = bytesOfText('null');

/** Maximum root fields in a statement: below the column limit of every database. */
const MAX_ROOTS = 500;

function inChunks<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= MAX_ROOTS) return [items];
  return Array.from({ length: Math.ceil(items.length / MAX_ROOTS) }, (_, i) => items.slice(i * MAX_ROOTS, (i + 1) * MAX_ROOTS));
}

/** Groups root fields by source, one statement each unless there are more than `MAX_ROOTS`. */
function planSelects(operation: PlannedOperation, compilerOf: (source: string) => Compiler): Planned {
  const bySource = new Map<string, number[]>();
  const results: (readonly ResultPart[])[] = [];
  const steps: PlanStep[] = [];
  let expected = 0;
  operation.roots.forEach((root, index) => {
    if (root.kind !== 'source') {
      results[index] = planCall(root, steps);
      return;
    }
    const indexes = bySource.get(root.source);
    if (indexes === undefined) bySource.set(root.source, [index]);
    else indexes.push(index);
  });
  for (const [source, indexes] of [...bySource].flatMap(([source, all]) => inChunks(all).map((part) => [source, part] as const))) {
    const roots = indexes.map((index) => operation.roots[index] as SourceRoot);
    const distinct = distinctRoots(roots.map((r) => r.root as SelectRoot));
    expected += expectedBytes(distinct.roots);
    const statement = compilerOf(source).select(distinct.roots);
    for (const [i, index] of indexes.entries()) results[index] = [cellOf(steps.length, distinct, i)];
    // The step does not refer to the IR, which takes several times the memory of the result.
    const responseKeys = roots.map((root) => root.responseKey);
    steps.push({
      kind: 'select',
      source,
      collection: collectionOf(roots),
      statement,
      binders: statement.parameters.map(binder),
      responseKeys,
    });
  }
  return { steps, results, expected };
}

/** Place of the answer to a root. */
function cellOf(step: number, { places }: DistinctRoots, index: number): ResultPart {
  const place = places[index];
  invariant(place !== undefined, 'every root has its place');
  const cell: CellPart = { step, column: place.root, absent: NULL };
  return place.layout === null ? cell : { layout: place.layout, of: [cell] };
}

/** @throws SvcError not-supported for roots of several sources, and for kinds that cannot repeat statements */
function planSubscription({ roots }: PlannedOperation, compilerOf: (source: string) => Compiler): Planned {
  const [first] = roots;
  if (first?.kind === 'action' && roots.length === 1) {
    const steps: PlanStep[] = [];
    return { steps, results: [planCall(first, steps)], expected: 0 };
  }
  if (first?.kind !== 'source') {
    const message = first?.kind === 'remote' ? 'subscription to remote server is not supported' : 'only rows can be subscribed to';
    throw new SvcError('not-supported', message, { path: first?.path ?? ROOT });
  }
  const { source } = first;
  const other = roots.find((root) => root.source !== source);
  if (other !== undefined) {
    throw new SvcError('not-supported', 'the root fields of a subscription must be of one source', { path: other.path });
  }
  const distinct = distinctRoots(roots.map(({ root }) => root as SelectRoot));
  const query = compilerOf(source).liveQuery?.(distinct.roots);
  if (query === undefined) {
    throw new SvcError('not-supported', `source ${source} does not support subscriptions`, { path: first.path });
  }
  const responseKeys = roots.map((root) => root.responseKey);
  const step: LiveStep = { kind: 'live', source, query, binders: query.parameters.map(binder), responseKeys };
  return { steps: [step], results: roots.map((_, i) => [cellOf(0, distinct, i)]), expected: expectedBytes(distinct.roots) };
}

/** Groups consecutive root fields by source; a group with no work has no step. */
function planMutation(operation: PlannedOperation, compilerOf: (source: string) => Compiler): Planned {
  const groups: (SourceRoot[] | RemoteSchemaRoot | HandlerRoot)[] = [];
  for (const root of operation.roots) {
    const last = groups.at(-1);
    if (root.kind !== 'source') groups.push(root);
    else if (Array.isArray(last) && last[0]?.source === root.source) last.push(root);
    else groups.push([root]);
  }
  const steps: PlanStep[] = [];
  const results: (readonly ResultPart[])[] = [];
  let expected = 0;
  for (const roots of groups) {
    if (!Array.isArray(roots)) {
      results.push(planCall(roots, steps));
      continue;
    }
    const { source } = roots[0] as SourceRoot;
    const distinct = roots.map((r) => distinctWrite(r.root));
    expected += expectedBytes(distinct.map(({ root }) => root));
    const compiled = compilerOf(source).mutation?.(
      distinct.map(({ root }) => root),
      !operation.reusable,
    );
    if (compiled === undefined)
      throw new SvcError('not-supported', `source ${source} does not support mutations`, { path: roots[0]?.path ?? ROOT });
    const step = steps.length;
    const columns: number[] = [];
    let width = 0;
    for (const { statement } of compiled.statements) {
      columns.push(width);
      width += statement.columns;
    }
    const piece = (result: ResultPiece): Bytes | CellPart =>
      typeof result === 'string'
        ? bytesOfText(result)
        : { step, column: (columns[result.statement] as number) + result.column, absent: bytesOfText(result.absent) };
    for (const [i, pieces] of compiled.results.entries()) {
      const layout = distinct[i]?.layout ?? null;
      const of = pieces.map(piece);
      results.push(layout === null ? pieces.map((each, p) => (typeof each === 'string' ? each : (of[p] as CellPart))) : [{ layout, of }]);
    }
    if (compiled.statements.length === 0) continue;
    const { fallback } = compiled;
    const statements = boundStatements(compiled);
    steps.push({
      kind: 'mutation',
      source,
      collection: collectionOf(roots),
      verb: verbOf(roots),
      statements,
      ...(fallback === undefined ? {} : { fallback: () => boundStatements(fallback()) }),
    });
  }
  return { steps, results, expected };
}

/** A root of a mutation is a write or a call of a function; these are never merged with another root. */
function distinctWrite(root: SourceRoot['root']): { readonly root: SourceRoot['root']; readonly layout: JsonLayout | null } {
  const { mutation } = root;
  if (mutation === undefined) {
    const { query, layout } = distinctQuery(root.query);
    return { root: layout === null ? root : { ...root, query }, layout };
  }
  if (mutation.kind === 'update-many') {
    const updates = mutation.updates.map((update) => ({ update, ...distinctOutput(update.output) }));
    // The updates of a list have the same output, and so the same layout.
    const layout = updates[0]?.layout ?? null;
    if (layout === null) return { root, layout };
    const changed = updates.map(({ update, output }) => ({ ...update, output }));
    return { root: { ...root, mutation: { ...mutation, updates: changed } }, layout };
  }
  const { output, layout } = distinctOutput(mutation.output);
  return layout === null ? { root, layout } : { root: { ...root, mutation: { ...mutation, output } }, layout };
}

/** See `SelectStep.collection`. */
function collectionOf(roots: readonly SourceRoot[]): string | null {
  const [only] = roots;
  if (only === undefined || roots.length > 1) return null;
  const { root } = only;
  if (root.mutation !== undefined) {
    const table = root.mutation.kind === 'update-many' ? root.mutation.updates[0]?.table : root.mutation.table;
    return table === undefined ? null : `${table.schema}.${table.name}`;
  }
  const { from } = root.query;
  return from.kind === 'table' ? `${from.name.schema}.${from.name.name}` : null;
}

function verbOf(roots: readonly SourceRoot[]): MutationStep['verb'] {
  const kind = roots.length === 1 ? roots[0]?.root.mutation?.kind : undefined;
  if (kind === undefined) return null;
  return kind === 'insert' ? 'INSERT' : kind === 'delete' ? 'DELETE' : 'UPDATE';
}

function boundStatements({ statements }: CompiledMutation): readonly BoundStatement[] {
  return statements.map((item) => ({ ...item, binders: withDefaultPath(item.path, () => item.statement.parameters.map(binder)) }));
}

/** Adds the path to an error about a value that has no path of its own. @throws SvcError */
export function withDefaultPath<T>(path: Path, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof SvcError && error.code === 'data-exception' && error.path === ROOT ? error.withPath(path) : error;
  }
}

const PLANNERS = { query: planSelects, mutation: planMutation, subscription: planSubscription } as const;

function template(response: ResponseNode, results: readonly (readonly ResultPart[])[]): readonly TemplatePart[] {
  const parts: ResultPart[] = [];
  const text = (piece: string): void => {
    const last = parts.length - 1;
    if (typeof parts[last] === 'string') parts[last] += piece;
    else parts.push(piece);
  };
  const visit = (node: ResponseNode): void => {
    switch (node.kind) {
      case 'json':
        text(node.text);
        return;
      case 'root':
        for (const piece of results[node.index] ?? []) {
          if (typeof piece === 'string') text(piece);
          else parts.push(piece);
        }
        return;
      case 'deferred':
        parts.push({ produce: node.produce });
        return;
      case 'list':
        text('[');
        node.items.forEach((child, i) => {
          if (i > 0) text(',');
          visit(child);
        });
        text(']');
        return;
      case 'object':
        text('{');
        node.entries.forEach(([key, child], i) => {
          text(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`);
          visit(child);
        });
        text('}');
    }
  };
  text('{"data":');
  visit(response);
  text('}');
  return parts.map((part) => (typeof part === 'string' ? bytesOfText(part) : part));
}

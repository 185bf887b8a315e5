/** Shared state of all inputs of one translation: the request's variables and the facts that were read from them. */
import { SvcError } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';
import type { Constraint, Variables } from '../constraint.ts';
import type { VariableDeclaration } from '../variables.ts';

export interface InputContext {
  readonly variables: Variables;
  readonly declared: ReadonlyMap<string, VariableDeclaration>;
  readonly constraints: ConstraintRecorder;
  /** If true, a variable declared `T!` may be null. */
  readonly nullInNonNullableVariables: boolean;
  /** If true, a nullable variable that was not sent omits its argument or key; otherwise it is null. */
  readonly unsentIsAbsent: boolean;
  /** Context of conditions, where an omitted key would match every row; `null` if there is no difference. */
  readonly inConditions: InputContext | null;
  /** If true, lists of objects are read item by item, even if their items are uniform. */
  readonly itemByItem?: boolean;
}

/** Collects the facts that a plan depends on, each once, and counts the values that are examined. */
export interface ConstraintRecorder {
  record(constraint: Constraint): void;
  /** Counts parts of a value before they are examined, so that large values are rejected early. @throws SvcError */
  enter(parts: number): void;
  /** Counts work whose cost equals that of `parts` more parts. @throws SvcError */
  charge(parts: number): void;
  /** Number of counted parts. */
  parts(): number;
  /**
   * Returns a recorder without facts and with a count of its own, for data that becomes part of the plan. From then on the plan serves this
   * request only.
   */
  unrecorded(): ConstraintRecorder;
  list(): readonly Constraint[];
  /** False after facts were dropped: the plan serves this request only. */
  isComplete(): boolean;
}

/**
 * Maximum values of rows that are read one by one; 10,000 take about 15 ms. They do not count as parts, so the number of rows does not
 * depend on the limits on operations.
 */
const MAX_VALUES = 200_000;

export interface RecorderLimits {
  /** Maximum parts of variables that a translation may examine: each costs as much as a value in the document. */
  readonly parts: number;
  /** Maximum recorded facts; with more, another request is unlikely to match all of them. */
  readonly facts: number;
}

/**
 * Records the facts about variables that shape a plan.
 * @throws SvcError validation-failed, by the recorder, if there are more than the limits allow
 */
export function createConstraintRecorder(limits: RecorderLimits): ConstraintRecorder {
  const byKey = new Map<string, Constraint>();
  let parts = 0;
  let complete = true;
  const count = (more: number, tooMuch: (most: number) => string): void => {
    parts += more;
    if (parts > limits.parts) throw new SvcError('validation-failed', tooMuch(limits.parts));
  };
  const enter = (more: number): void => count(more, (most) => `the variables have more than ${most} parts that the operation depends on`);
  const charge = (more: number): void =>
    count(more, (most) => `the operation's conditions, orders and nested rows weigh more than ${most}`);
  const dropFacts = (): void => {
    complete = false;
    byKey.clear();
  };
  let valueRecorder: ConstraintRecorder | null = null;
  return {
    record(constraint) {
      if (!complete) return;
      // A translation sees one value, so variable, path and kind determine the fact.
      const key = keyOf(constraint.fact.kind, constraint);
      if (byKey.has(key)) return;
      if (byKey.size < limits.facts) byKey.set(key, constraint);
      else dropFacts();
    },
    enter,
    charge,
    parts: () => parts,
    unrecorded() {
      dropFacts();
      valueRecorder ??= valueCounter(Math.max(MAX_VALUES, limits.parts), charge);
      return valueRecorder;
    },
    list: () => [...byKey.values()].filter((constraint) => !isImplied(constraint, byKey)),
    isComplete: () => complete,
  };
}

function valueCounter(most: number, charge: ConstraintRecorder['charge']): ConstraintRecorder {
  let values = 0;
  const counter: ConstraintRecorder = {
    record: () => undefined,
    enter(more) {
      values += more;
      if (values > most) throw new SvcError('validation-failed', `the rows of the variables have more than ${most} values`);
    },
    charge,
    parts: () => 0,
    unrecorded: () => counter,
    list: () => [],
    isComplete: () => false,
  };
  return counter;
}

function keyOf(kind: Constraint['fact']['kind'], { variable, path }: Pick<Constraint, 'variable' | 'path'>): string {
  return path.length === 0 ? `${kind} ${variable}` : `${kind} ${variable} ${JSON.stringify(path)}`;
}

/** Keys, a length or a fixed value imply presence and non-null; non-null implies presence. */
function isImplied(constraint: Constraint, all: ReadonlyMap<string, Constraint>): boolean {
  const { fact } = constraint;
  if (fact.kind !== 'null' && (fact.kind !== 'present' || !fact.present)) return false;
  if (all.has(keyOf('keys', constraint)) || all.has(keyOf('equals', constraint))) return true;
  const length = all.get(keyOf('length', constraint))?.fact;
  if (length?.kind === 'length' && length.length !== null) return true;
  const known = all.get(keyOf('null', constraint))?.fact;
  return fact.kind === 'present' && known?.kind === 'null' && !known.isNull;
}

/** @throws SvcError validation-failed for a variable that the operation does not declare */
export function declarationOf(context: InputContext, name: string, at: Path): VariableDeclaration {
  const declaration = context.declared.get(name);
  if (declaration === undefined) throw new SvcError('validation-failed', `unbound variable "${name}"`, { path: at });
  return declaration;
}

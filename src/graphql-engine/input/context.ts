/** What all inputs of one translation share: the request's variables and the facts found out about them. */
import { SvcError } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';
import type { Constraint, Variables } from '../constraint.ts';
import type { VariableDeclaration } from '../variables.ts';

export interface InputContext {
  readonly variables: Variables;
  readonly declared: ReadonlyMap<string, VariableDeclaration>;
  readonly constraints: ConstraintRecorder;
  /** A variable declared `T!` may be null all the same. */
  readonly nullInNonNullableVariables: boolean;
  /** A nullable variable that was not sent takes the argument or key that it stands for with it; else it is null. */
  readonly unsentIsAbsent: boolean;
  /** The context inside of conditions: a key that is missing there matches every row. Null: the same. */
  readonly inConditions: InputContext | null;
  /** Lists of objects are read item by item, though they are alike. */
  readonly itemByItem?: true;
}

/** Collects the facts that a plan rests on, each once, and counts what is looked into. */
export interface ConstraintRecorder {
  record(constraint: Constraint): void;
  /** Says that so many parts of a value follow, so that what is too much is found out before it is done. @throws SvcError */
  enter(parts: number): void;
  /** Says that what becomes of a value costs as much as so many more parts would. @throws SvcError */
  charge(parts: number): void;
  /** How many followed. */
  parts(): number;
  /**
   * One that records nothing and counts apart, for data that a plan is made of: from now on the plan serves this
   * request only.
   */
  unrecorded(): ConstraintRecorder;
  list(): readonly Constraint[];
  /** False once facts were dropped: the plan serves this request only. */
  isComplete(): boolean;
}

/**
 * Values of rows that are read one by one; 10,000 take about 15 ms. They do not count as parts, so that rows may be many
 * whatever operations are allowed to look like.
 */
const MOST_VALUES = 200_000;

export interface RecorderLimits {
  /** Parts of variables that a translation may look into: each costs as much as a value in the document. */
  readonly parts: number;
  /** Facts kept; beyond, no other request is likely to bring them all. */
  readonly facts: number;
}

/**
 * Notes the facts about variables that shape a plan.
 * @throws SvcError validation-failed, the recorder, where there are more than the limits allow
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
  const giveUp = (): void => {
    complete = false;
    byKey.clear();
  };
  let apart: ConstraintRecorder | null = null;
  return {
    record(constraint) {
      if (!complete) return;
      // One translation sees one value, so variable, place and kind of fact decide the fact.
      const key = keyOf(constraint.fact.kind, constraint);
      if (byKey.has(key)) return;
      if (byKey.size < limits.facts) byKey.set(key, constraint);
      else giveUp();
    },
    enter,
    charge,
    parts: () => parts,
    unrecorded() {
      giveUp();
      apart ??= valueCounter(Math.max(MOST_VALUES, limits.parts), charge);
      return apart;
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

/** What has keys, a length or a fixed value says by that whether it is there and whether it is null; and what is not null is there. */
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

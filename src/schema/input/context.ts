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
  /** A nullable variable that was not sent is missing in `variables`, and so is the argument or key that it stands for. */
  readonly missingVariablesAreAbsent: boolean;
}

/** Collects the facts that a plan rests on, each once. */
export interface ConstraintRecorder {
  record(constraint: Constraint): void;
  /** Says that at least so many facts follow, so that what is too much is found out before it is done. */
  expect(facts: number): void;
  list(): readonly Constraint[];
  /** False once facts were dropped: the plan serves this request only. */
  isComplete(): boolean;
}

/**
 * @param limit facts kept
 * @param beyond what happens to a request whose variables are looked into more often: it is refused,
 *   or the facts are dropped, because data that is written may have any size and no two requests bring the same
 */
export function createConstraintRecorder(limit: number, beyond: 'refuse' | 'drop' = 'refuse'): ConstraintRecorder {
  const byKey = new Map<string, Constraint>();
  let complete = true;
  const giveUp = (): void => {
    if (beyond === 'refuse') {
      throw new SvcError('validation-failed', `the variables have more than ${limit} parts that the operation depends on`);
    }
    complete = false;
    byKey.clear();
  };
  return {
    record(constraint) {
      if (!complete) return;
      // One translation sees one value, so variable, place and kind of fact decide the fact.
      const key = keyOf(constraint.fact.kind, constraint);
      if (byKey.has(key)) return;
      if (byKey.size >= limit) giveUp();
      else byKey.set(key, constraint);
    },
    expect(facts) {
      if (complete && byKey.size + facts > limit) giveUp();
    },
    list: () => [...byKey.values()].filter((constraint) => !isImplied(constraint, byKey)),
    isComplete: () => complete,
  };
}

function keyOf(kind: Constraint['fact']['kind'], { variable, path }: Pick<Constraint, 'variable' | 'path'>): string {
  return path.length === 0 ? `${kind} ${variable}` : `${kind} ${variable} ${JSON.stringify(path)}`;
}

/** What has keys, a length or a fixed value says by that whether it is null. */
function isImplied(constraint: Constraint, all: ReadonlyMap<string, Constraint>): boolean {
  if (constraint.fact.kind !== 'null') return false;
  if (all.has(keyOf('keys', constraint)) || all.has(keyOf('equals', constraint))) return true;
  const length = all.get(keyOf('length', constraint))?.fact;
  return length?.kind === 'length' && length.length !== null;
}

export function declarationOf(context: InputContext, name: string, at: Path): VariableDeclaration {
  const declaration = context.declared.get(name);
  if (declaration === undefined) throw new SvcError('validation-failed', `unbound variable "${name}"`, { path: at });
  return declaration;
}

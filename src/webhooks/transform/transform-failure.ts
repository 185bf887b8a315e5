import { SvcError } from '../../errors/svc-error.ts';
import type { JsonObject } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import { BudgetExceeded } from './template/budget.ts';
import { TemplateError } from './template/template-error.ts';

/** What is wrong with the templates of a transform, or with what they make: one entry for each fault. */
export class TransformFailure extends Error {
  readonly faults: readonly JsonObject[];

  constructor(faults: readonly JsonObject[]) {
    super(faults.map(({ message }) => String(message)).join('\n'));
    this.name = 'TransformFailure';
    this.faults = faults;
  }
}

/** A result of the wrong kind. */
export function wrongResult(message: string): TransformFailure {
  return new TransformFailure([{ error_code: 'TransformationError', message }]);
}

/** A failure as an administrator is told of it. */
export function validationFailed(of: 'request' | 'response', { faults }: TransformFailure, path: Path): SvcError {
  return new SvcError('validation-failed', `${of} transform validation failed`, { path, internal: faults });
}

/** Does all of the work and gathers what fails, so that one answer tells of every faulty template. */
export class FaultList {
  readonly #faults: JsonObject[] = [];

  /** Undefined when it failed. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (thrown) {
      if (thrown instanceof TemplateError) this.#faults.push(thrown.toJson());
      else if (thrown instanceof BudgetExceeded) this.#faults.push(...wrongResult(thrown.message).faults);
      else if (thrown instanceof TransformFailure) this.#faults.push(...thrown.faults);
      else throw thrown;
      return undefined;
    }
  }

  /** @throws TransformFailure when there was a fault */
  finish(): void {
    if (this.#faults.length > 0) throw new TransformFailure(this.#faults);
  }
}

import { SvcError } from '../../errors/svc-error.ts';
import type { JsonObject } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import { BudgetExceeded } from './template/budget.ts';
import { TemplateError } from './template/template-error.ts';

/** Errors in the templates of a transform, or in their results. */
export class TransformFailure extends Error {
  readonly faults: readonly JsonObject[];

  constructor(faults: readonly JsonObject[]) {
    super(faults.map(({ message }) => String(message)).join('\n'));
    this.name = 'TransformFailure';
    this.faults = faults;
  }
}

/** Failure for a result of the wrong type. */
export function wrongResult(message: string): TransformFailure {
  return new TransformFailure([{ error_code: 'TransformationError', message }]);
}

/** Converts a failure to the error for an administrator. */
export function validationFailed(of: 'request' | 'response', { faults }: TransformFailure, path: Path): SvcError {
  return new SvcError('validation-failed', `${of} transform validation failed`, { path, internal: faults });
}

/** Collects the failures of several steps, so that one error lists every invalid template. */
export class FaultList {
  readonly #faults: JsonObject[] = [];

  /** Returns `undefined` if the work failed. */
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

  /** @throws TransformFailure if there was a failure */
  finish(): void {
    if (this.#faults.length > 0) throw new TransformFailure(this.#faults);
  }
}

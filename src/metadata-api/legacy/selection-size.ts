/** How much a request of the legacy API asks for: a short one may stand for very much, as `*` is expanded. */
import { SvcError } from '../../errors/svc-error.ts';
import type { OperationLimits } from '../../schema/engine.ts';

export class SelectionSize {
  readonly #limits: Pick<OperationLimits, 'maxNodes' | 'maxObjects'>;
  #fields = 0;
  #objects = 0;

  constructor(limits: Pick<OperationLimits, 'maxNodes' | 'maxObjects'>) {
    this.#limits = limits;
  }

  /** Before so many more columns are selected. @throws SvcError */
  addFields(count: number): void {
    this.#fields += count;
    const { maxNodes } = this.#limits;
    if (this.#fields > maxNodes) throw new SvcError('validation-failed', `the operation has more than ${maxNodes} fields and values`);
  }

  /** Before rows of one more relationship are selected. @throws SvcError */
  addObject(): void {
    this.addFields(1);
    this.#objects += 1;
    const { maxObjects } = this.#limits;
    if (this.#objects > maxObjects)
      throw new SvcError('validation-failed', `the operation has more than ${maxObjects} fields with a selection`);
  }
}

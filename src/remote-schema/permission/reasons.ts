/** All reasons why the schema of a role does not match that of the server. */
import { SvcError } from '../../errors/svc-error.ts';
import { at, ROOT } from '../../util/path.ts';

/** Maximum number of reported reasons: every line of a large SDL may be wrong. */
const MAX_REASONS = 100;

export class Reasons {
  readonly #reasons: string[] = [];
  #count = 0;

  add(reason: string): void {
    this.#count++;
    if (this.#reasons.length < MAX_REASONS) this.#reasons.push(reason);
  }

  /** @throws SvcError validation-failed at `$.args` if there is a reason */
  refuse(): void {
    const [first] = this.#reasons;
    if (first === undefined) return;
    throw new SvcError('validation-failed', `validation for the given role-based schema failed ${this.#text(first)}`, {
      path: at(ROOT, 'args'),
    });
  }

  #text(first: string): string {
    if (this.#count === 1) return `because ${first}`;
    const more = this.#count - this.#reasons.length;
    const lines = more === 0 ? this.#reasons : [...this.#reasons, `and ${more} more`];
    return `for the following reasons:\n${lines.map((line) => ` • ${line}\n`).join('')}`;
  }
}

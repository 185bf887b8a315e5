import type { FunctionCall } from '../ir/function-call.ts';
import type { LiteralValue, MembersValue, VariableValue } from '../ir/value.ts';
import { printJson } from '../util/json.ts';

type Part = null | undefined | boolean | number | string | object;

/** Maximum characters of texts that are written out; longer ones are written as numbers. */
const LONG = 32;

/**
 * Numbers parts of the IR, to merge those of one operation: two parts have the same number if and only if they mean the same. Each part is
 * written once, with numbers in place of the parts within it, so work and texts are linear in the IR.
 */
export class IrKeys {
  /** Numbers by the text of a part. */
  readonly #numbers = new Map<string, number>();
  readonly #strings = new Map<string, number>();
  readonly #known = new Map<object, number | null>();

  /** Returns the number of a part; `null` for a call of a function that may return something different each time. */
  of(part: object): number | null {
    return this.once(part, () => this.#numberOf(part));
  }

  /** Returns the number of a list of texts and numbers of parts. */
  together(parts: readonly (string | number)[]): number {
    return this.#number(`(${JSON.stringify(parts)}`);
  }

  /** Returns the result of the first call of `make` for the part. */
  once(part: object, make: () => number | null): number | null {
    let number = this.#known.get(part);
    if (number === undefined) {
      number = make();
      this.#known.set(part, number);
    }
    return number;
  }

  #numberOf(part: object): number | null {
    if (Array.isArray(part)) {
      let text = '[';
      for (const item of part as readonly Part[]) {
        const written = this.#write(item);
        if (written === null) return null;
        text += `${written},`;
      }
      return this.#number(text);
    }
    if (Object.getPrototypeOf(part) !== Object.prototype) return null;
    // Keys of a client's JSON have no meaning here.
    if (isLiteral(part)) return this.#number(`=${typeof part.json === 'string' ? this.#string(part.json) : printJson(part.json)}`);
    if (isCall(part) && part.volatile !== false) return null;
    const isReference = isVariable(part);
    let text = '{';
    for (const [name, value] of Object.entries(part) as [string, Part][]) {
      // The function that checks a variable depends only on the position of the variable.
      if (value === undefined || (isReference && name === 'check')) continue;
      const written = this.#write(value);
      if (written === null) return null;
      text += `${name}:${written},`;
    }
    return this.#number(text);
  }

  #write(part: Part): string | null {
    if (typeof part === 'string') return this.#string(part);
    if (typeof part === 'object' && part !== null) {
      const number = this.of(part);
      return number === null ? null : `#${number}`;
    }
    return typeof part === 'function' || typeof part === 'symbol' ? null : String(part);
  }

  /** A long text may occur in many places; it is not copied for each. */
  #string(text: string): string {
    return text.length > LONG ? `$${numberIn(this.#strings, text)}` : JSON.stringify(text);
  }

  #number(text: string): number {
    return numberIn(this.#numbers, text);
  }
}

function numberIn(numbers: Map<string, number>, text: string): number {
  let number = numbers.get(text);
  if (number === undefined) {
    number = numbers.size;
    numbers.set(text, number);
  }
  return number;
}

function isLiteral(part: object): part is LiteralValue {
  return 'kind' in part && part.kind === 'literal' && 'json' in part;
}

function isVariable(part: object): part is VariableValue | MembersValue {
  return 'kind' in part && (part.kind === 'variable' || part.kind === 'members');
}

function isCall(part: object): part is FunctionCall {
  return 'function' in part && typeof part.function === 'object';
}

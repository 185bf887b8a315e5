import type { SvcError } from '../errors/svc-error.ts';
import { type Path, printPath } from '../util/path.ts';
import type { UnknownKeysError } from './unknown-keys.ts';

/** How everything below a place is decoded. */
export interface DecodeRules {
  /** Also in a document an unknown key is an error, at its very place; kept by default. */
  readonly refusesUnknown?: boolean;
  /** Called with the refusal of each object with unknown keys that are kept. */
  readonly onKept?: (refusal: UnknownKeysError) => void;
  /**
   * Numbers beyond their bounds count as the nearest bound, and this is called for each, in words; they are errors by default.
   * For metadata that is stored: bounds may be younger than it, and the service has to start on it.
   */
  readonly onClamped?: (message: string) => void;
}

class RuledPath implements Path {
  readonly parent: Path | undefined;
  readonly key: string | number;
  readonly rules: DecodeRules;

  constructor({ parent, key }: Path, rules: DecodeRules) {
    this.parent = parent;
    this.key = key;
    this.rules = rules;
  }
}

/** Returns the same place, below which these rules hold. */
export function withRules(path: Path, rules: DecodeRules): Path {
  return new RuledPath(path, rules);
}

/** Returns the rules that hold at a place. */
export function rulesAt(path: Path): DecodeRules {
  for (let place: Path | undefined = path; place !== undefined; place = place.parent) if (place instanceof RuledPath) return place.rules;
  return {};
}

/** Returns the bound where numbers count as the nearest. @throws `error` elsewhere */
export function orNearest(bound: number, error: SvcError): number {
  const { onClamped } = rulesAt(error.path);
  if (onClamped === undefined) throw error;
  onClamped(`${printPath(error.path)}: ${error.message}; ${bound} is used`);
  return bound;
}

import type { SvcError } from '../errors/svc-error.ts';
import { type Path, printPath } from '../util/path.ts';
import type { UnknownKeysError } from './unknown-keys.ts';

/** Rules for decoding all values below a path. */
export interface DecodeRules {
  /** If true, unknown keys in documents are errors at their exact path. By default they are preserved. */
  readonly refusesUnknown?: boolean;
  /** Called for each object whose unknown keys are preserved. */
  readonly onPreserved?: (refusal: UnknownKeysError) => void;
  /**
   * If set, numbers outside their limits are replaced by the nearest limit, and this is called with a message for each; by default they are
   * errors. Used for stored metadata: a limit may be newer than a stored number, and the service must still start.
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

/** Returns the same path with rules that apply below it. */
export function withRules(path: Path, rules: DecodeRules): Path {
  return new RuledPath(path, rules);
}

/** Returns the rules that apply at a path. */
export function rulesAt(path: Path): DecodeRules {
  for (let place: Path | undefined = path; place !== undefined; place = place.parent) if (place instanceof RuledPath) return place.rules;
  return {};
}

/** Returns `bound` if the rules replace numbers outside their limits. @throws `error` otherwise */
export function clampOrThrow(bound: number, error: SvcError): number {
  const { onClamped } = rulesAt(error.path);
  if (onClamped === undefined) throw error;
  onClamped(`${printPath(error.path)}: ${error.message}; ${bound} is used`);
  return bound;
}

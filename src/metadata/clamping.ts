/**
 * Numbers beyond their bounds are errors, but for those of metadata that is stored already: bounds may be younger than
 * what is stored, and the service has to start on it.
 */
import type { SvcError } from '../errors/svc-error.ts';
import { printPath } from '../util/path.ts';

let clamped: string[] | null = null;

/** Decodes with the nearest bound in place of numbers that are beyond it. @param tell hears of each, in words */
export function clampingNumbers<T>(decode: () => T, tell: (message: string) => void = () => undefined): T {
  const before = clamped;
  const own: string[] = [];
  clamped = own;
  try {
    return decode();
  } finally {
    clamped = before;
    for (const message of own) tell(message);
  }
}

/** Inside of `clampingNumbers` the bound. @throws `error` elsewhere */
export function orNearest(bound: number, error: SvcError): number {
  if (clamped === null) throw error;
  clamped.push(`${printPath(error.path)}: ${error.message}; ${bound} is used`);
  return bound;
}

/** Reads command-line arguments, for the commands of the service and of projects alike. */
import { nearest } from '../model/nearest.ts';

export interface Flag {
  /** Spellings, such as `--server-port` and `-p`; the first is used in messages. */
  readonly names: readonly string[];
  /** `boolean`: `--flag` means `--flag true`; a following word is its value only if it is a boolean. */
  readonly value: 'none' | 'required' | 'boolean';
}

export type ReadArgument<F extends Flag> =
  | { readonly kind: 'flag'; readonly flag: F; readonly value: string }
  | { readonly kind: 'operand'; readonly text: string };

export class ArgumentError extends Error {
  readonly code: 'unknown' | 'value';

  constructor(code: ArgumentError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const TRUE: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y']);
const FALSE: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n']);

/** @returns `undefined` for text that is not a boolean */
export function booleanOf(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return TRUE.has(lower) ? true : FALSE.has(lower) ? false : undefined;
}

/**
 * Yields flags (`--flag value`, `--flag=value`, `-f value`) and operands in order. After `--` everything is an operand.
 * @throws ArgumentError for an unknown flag, a missing value, and a value of a flag that takes none
 */
export function* readArguments<F extends Flag>(argv: readonly string[], flags: readonly F[]): Generator<ReadArgument<F>> {
  const byName = new Map(flags.flatMap((flag) => flag.names.map((name) => [name, flag] as const)));
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] as string;
    if (argument === '--') {
      for (const text of argv.slice(i + 1)) yield { kind: 'operand', text };
      return;
    }
    if (!argument.startsWith('-')) {
      yield { kind: 'operand', text: argument };
      continue;
    }
    const equals = argument.indexOf('=');
    const name = equals < 0 ? argument : argument.slice(0, equals);
    const flag = byName.get(name);
    if (flag === undefined) {
      if (name.startsWith('--')) throw unknownWord('option', name, byName.keys());
      // Text right after a short flag may be a password, and is not repeated.
      const short = name.slice(0, 2);
      throw byName.has(short) ? new ArgumentError('value', `${short} needs a space before its value`) : unknownWord('option', short, []);
    }
    const next = argv[i + 1];
    if (equals >= 0) {
      if (flag.value === 'none') throw new ArgumentError('value', `${name} takes no value`);
      yield { kind: 'flag', flag, value: argument.slice(equals + 1) };
    } else if (flag.value === 'none' || (flag.value === 'boolean' && (next === undefined || booleanOf(next) === undefined))) {
      yield { kind: 'flag', flag, value: 'true' };
    } else {
      if (next === undefined) throw new ArgumentError('value', `${flag.names[0]} needs a value`);
      yield { kind: 'flag', flag, value: next };
      i++;
    }
  }
}

/** @param known words of which the message suggests the nearest one */
export function unknownWord(kind: 'command' | 'option', word: string, known: Iterable<string>): ArgumentError {
  const meant = nearest(word, known);
  return new ArgumentError('unknown', `unknown ${kind} ${JSON.stringify(word)}${meant === undefined ? '' : `, did you mean "${meant}"?`}`);
}

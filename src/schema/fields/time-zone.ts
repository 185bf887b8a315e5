/** Time zones of requests: a name of the IANA database, such as `Europe/Berlin`, or an offset, such as `+05:30`. */
import { shortened } from '../../errors/shortened.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { InputValue } from '../../graphql-engine/types.ts';
import type { Value } from '../../ir/value.ts';
import type { Json } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';

const OFFSET = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;
/** A name without a slash may be an abbreviation, which databases read as a fixed offset. */
const NAME = /^(?:UTC|[A-Za-z]+(?:\/[A-Za-z0-9_+-]+)+)$/;

/** Names that were found in the runtime's list, which never changes: looking one up takes a tenth of a millisecond. */
const known = new Set(['UTC']);

/** Returns the time zone. It is checked before any row is read, also if it is a variable. @throws SvcError validation-failed */
export function timeZoneValue(input: InputValue): Value {
  const value = input.value();
  if (value.kind === 'literal') return { ...value, json: checkedZone(value.json, input.path) };
  if (value.kind !== 'variable') return value;
  const { check } = value;
  return { ...value, check: (json, at, request) => checkedZone(check(json, at, request), at) };
}

function checkedZone(json: Json, path: Path): Json {
  if (typeof json === 'string' && (OFFSET.test(json) || isKnownName(json))) return json;
  throw new SvcError('validation-failed', `time zone "${shortened(String(json))}" is not known`, { path });
}

function isKnownName(name: string): boolean {
  if (known.has(name)) return true;
  if (!NAME.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    return false;
  }
  // Names are accepted in any case, but only as many spellings are stored as there are names.
  if (known.size < 1000) known.add(name);
  return true;
}

/** Binding: resolves the value references of a plan to the parameter texts of one request. */
import type { Session } from '../auth/session.ts';
import type { InsertedRows, RowsOfRequest } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { WrittenItems, WrittenJson } from '../ir/input-validation.ts';
import type { MembersValue, Value } from '../ir/value.ts';
import { type Variables, variablePart } from '../graphql-engine/constraint.ts';
import type { Parameter } from '../sql/fragment.ts';
import { isJsonArray, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path, ROOT } from '../util/path.ts';

/** Returns the text of one parameter for a request. @throws SvcError if a value does not fit or a session variable is missing */
export interface Binder {
  (variables: Variables, session: Session, joining?: JoinValues): string | null;
  /** See `Parameter.perRow`. */
  readonly perRow?: number;
}

/**
 * Maximum characters of values that the database processes for each row, over all places of a statement. An `_ilike` pattern of that length
 * takes 1 to 2 ms.
 */
const MAX_CHARACTERS_PER_ROW = 131_072;

/** Values that a run of a plan with joins provides. */
export interface JoinValues {
  /** Random and new for every request, so that no data can contain it. */
  readonly placeholderName: string;
  /** The distinct keys of the join, by part; empty for other steps. */
  readonly keys: readonly (readonly (string | null)[])[];
}

function resolve(value: Value, variables: Variables, session: Session, joining: JoinValues | undefined): Json {
  switch (value.kind) {
    case 'literal':
      return value.json;
    case 'variable': {
      const json = value.path.length === 0 ? variables[value.name] : variablePart(variables, value.name, value.path);
      return value.check(json === undefined ? null : json, value.at, variables);
    }
    case 'list':
      return value.items.map((item) => resolve(item, variables, session, joining));
    case 'members':
      return members(value, variables);
    case 'session':
      return sessionVariable(session, value.name);
    case 'session-variables':
      return Object.fromEntries(session.variables);
    case 'cursor':
      return resolve(value.start, variables, session, joining);
    // The source fills it in when it runs the statement.
    case 'transaction-local':
      return null;
    case 'placeholder-name':
      invariant(joining !== undefined, 'a run of a plan with joins names its placeholders');
      return joining.placeholderName;
    case 'join-keys': {
      const texts = joining?.keys[value.part];
      invariant(texts !== undefined, 'a join has keys');
      return texts;
    }
  }
}

function members({ name, path, key, at: place, check }: MembersValue, variables: Variables): readonly Json[] {
  const objects = path.length === 0 ? variables[name] : variablePart(variables, name, path);
  invariant(isJsonArray(objects), 'a plan for a list serves lists');
  return objects.map((object, index) => {
    const json = Object.hasOwn(object as JsonObject, key) ? ((object as JsonObject)[key] as Json) : null;
    return check(json, { parent: { parent: place, key: index }, key }, variables);
  });
}

/** Returns bound rows, for the search for the row that an error is about. */
export function rowsOfRequest(inserted: InsertedRows, variables: Variables, session: Session): RowsOfRequest {
  const { rows } = inserted;
  if (!('length' in rows)) {
    const lists = [...rows.values.values()].flatMap(({ value }) => (value.kind === 'members' ? [value] : []));
    const [first] = lists;
    invariant(first !== undefined, 'uniform rows have a list of values');
    const count = members(first, variables).length;
    return {
      ...inserted,
      place: (index) => at(first.at, index),
      cells: (column) => {
        const value = rows.values.get(column)?.value;
        if (value?.kind === 'members') return members(value, variables);
        const shared = value === undefined ? undefined : resolve(value, variables, session, undefined);
        return Array.from({ length: count }, () => shared);
      },
    };
  }
  return {
    ...inserted,
    place: (index) => rows[index]?.path ?? ROOT,
    cells: (column) =>
      rows.map(({ values }) => {
        const operand = values.get(column);
        return operand === undefined ? undefined : resolve(operand.value, variables, session, undefined);
      }),
  };
}

function sessionVariable(session: Session, name: string): string {
  const text = session.variables.get(name);
  if (text === undefined) throw new SvcError('not-found', `missing session variable: "${name}"`);
  return text;
}

/** @throws SvcError of the first value that does not fit */
export function bindAll(
  binders: readonly Binder[],
  variables: Variables,
  session: Session,
  joining?: JoinValues,
): readonly (string | null)[] {
  const values: (string | null)[] = [];
  let perRow = 0;
  for (const bind of binders) {
    const text = bind(variables, session, joining);
    values.push(text);
    if (bind.perRow !== undefined && text !== null) perRow += bind.perRow * text.length;
  }
  if (perRow > MAX_CHARACTERS_PER_ROW) {
    const message = `the patterns, documents and arrays of the conditions have more than ${MAX_CHARACTERS_PER_ROW} characters`;
    throw new SvcError('validation-failed', message);
  }
  return values;
}

/**
 * Returns the error that comes first in the request. Rows are bound column by column, so the error that is found first may be about a later
 * row.
 * @param found the error that was found first
 */
export function firstErrorInRequest(
  found: unknown,
  binders: readonly Binder[],
  variables: Variables,
  session: Session,
  joining: JoinValues | undefined,
): unknown {
  let first = found;
  for (const bind of binders) {
    try {
      bind(variables, session, joining);
    } catch (error) {
      if (error instanceof SvcError && first instanceof SvcError && comesBefore(keysOf(error.path), keysOf(first.path))) first = error;
    }
  }
  return first;
}

function keysOf(path: Path): readonly Path['key'][] {
  const keys: Path['key'][] = [];
  for (let at: Path | undefined = path; at !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/** Compares by the first place where the paths differ, if that is a place in a list. */
function comesBefore(a: readonly Path['key'][], b: readonly Path['key'][]): boolean {
  const difference = a.findIndex((key, i) => key !== b[i]);
  const [one, other] = [a[difference], b[difference]];
  return typeof one === 'number' && typeof other === 'number' && one < other;
}

/** Prepares a parameter once; literals are encoded at that time. */
export function binder(parameter: Parameter): Binder {
  const bind = plainBinder(parameter);
  const { perRow } = parameter;
  // Session variables come from trusted authentication, so their length is not counted.
  return perRow === undefined || parameter.operand.value.kind === 'session' ? bind : Object.assign(bind, { perRow });
}

function plainBinder(parameter: Parameter): Binder {
  const { value } = parameter.operand;
  const { encode } = parameter;
  switch (value.kind) {
    case 'literal': {
      const text = encode(value.json);
      return () => text;
    }
    case 'session': {
      const { name } = value;
      // Session variables are text in the database's own syntax; the kind, or the cast in its statement, parses it.
      return (_variables, session) => encode(sessionVariable(session, name));
    }
    case 'variable': {
      const { name, path, check, at } = value;
      if (path.length > 0) return (variables, session) => encodeNullable(encode, resolve(value, variables, session, undefined));
      return (variables) => {
        const json = variables[name];
        return encodeNullable(encode, check(json === undefined ? null : json, at, variables));
      };
    }
    default:
      return (variables, session, joining) => encodeNullable(encode, resolve(value, variables, session, joining));
  }
}

function encodeNullable(encode: (json: Json) => string | null, json: Json): string | null {
  return json === null ? null : encode(json);
}

/** Returns the input of a hook, item by item. */
export function bindInput(input: readonly (WrittenJson | WrittenItems)[], variables: Variables): readonly Json[] {
  return input.flatMap((item): readonly Json[] => {
    if (item.kind !== 'items') return [bindWritten(item, variables)];
    const list = variablePart(variables, item.name, item.path);
    return isJsonArray(list) ? list : [];
  });
}

/** Returns JSON of the request with the values of its variables. Keys whose variables were not sent are omitted. */
function bindWritten(written: WrittenJson, variables: Variables): Json {
  return bindPart(written, variables) ?? null;
}

/** Returns undefined for a variable that was not sent. */
export function bindPart(written: WrittenJson, variables: Variables): Json | undefined {
  switch (written.kind) {
    case 'json':
      return written.json;
    case 'variable':
      return variablePart(variables, written.name, written.path);
    case 'list':
      return written.items.map((item) => bindWritten(item, variables));
    case 'object': {
      const entries = written.entries.map(([key, value]) => [key, bindPart(value, variables)] as const);
      return Object.fromEntries(entries.filter((entry): entry is readonly [string, Json] => entry[1] !== undefined));
    }
  }
}

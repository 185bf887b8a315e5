/**
 * The response of a GraphQL server as part of ours: our response keys in the client's order, type names of the role schema, placeholders
 * for joins. The server's data is checked as far as it is read.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { RemoteField, RemoteOutput, RemoteSelection } from '../ir/remote.ts';
import { answerKeyOf, joinKeyOf, TYPE_KEY } from '../plan/remote-request.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, numberText } from '../util/json.ts';
import type { Bytes } from '../util/bytes.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import type { Cooperative } from '../util/cooperative.ts';
import { AnswerText } from './answer-text.ts';
import { placeholderText, type JoinBounds, type Key } from './placeholders.ts';

function failed(message: string, path: Path = ROOT): SvcError {
  return new SvcError('remote-schema-error', message, { path });
}

export interface AnswerParts {
  readonly data: JsonObject | null;
  /** Empty if there are none. */
  readonly errors: readonly Json[];
}

/** @throws SvcError remote-schema-error if the body is not a GraphQL response */
export function answerParts(body: Json): AnswerParts {
  if (!isJsonObject(body)) throw failed('Expected an object as the response from remote');
  const { data, errors } = body;
  if (errors !== undefined && errors !== null) {
    if (!isJsonArray(errors)) throw failed('Invalid "errors" field in response from remote');
    if (errors.length === 0) throw failed('Empty "errors" field in response from remote');
    return { data: isJsonObject(data) ? data : null, errors };
  }
  if (data === undefined) throw failed('Missing "data" field with no errors in response from remote');
  if (data === null) throw failed('Received null "data" field with no errors in response from remote');
  if (!isJsonObject(data)) throw failed('Invalid "data" field in response from remote');
  return { data, errors: [] };
}

/** A value that is being printed. */
type Printing =
  | {
      readonly kind: 'object';
      readonly fields: readonly RemoteOutput[];
      readonly object: JsonObject;
      readonly path: Path;
      next: number;
      isEmpty: boolean;
    }
  | {
      readonly kind: 'list';
      readonly items: readonly Json[];
      readonly selection: RemoteSelection;
      /** Remaining levels of nested lists. */
      readonly levels: number;
      readonly path: Path;
      next: number;
    }
  /** A value without a selection that is, or may be, long. */
  | { readonly kind: 'value'; readonly value: Json };

/** Number of steps between two checks of the time. */
const STEPS = 64;

export class RemoteAnswer {
  readonly #placeholderName: string;
  readonly #text: AnswerText;
  /** Stack, innermost value last. */
  readonly #printing: Printing[] = [];

  /** @param placeholderName placeholder name of the request; unused without joins */
  constructor(placeholderName: string, bounds: Required<JoinBounds>) {
    this.#placeholderName = placeholderName;
    this.#text = new AnswerText(bounds);
  }

  /** Prints an object with these fields, in pieces. @throws SvcError remote-schema-error */
  *object(fields: readonly RemoteOutput[], object: JsonObject, path: Path): Cooperative<readonly Bytes[]> {
    this.#beginObject(fields, object, path);
    return yield* this.#finish();
  }

  /** Prints the value of a field. @param key its key in the server's response */
  *field(field: RemoteField, key: string, object: JsonObject, path: Path): Cooperative<readonly Bytes[]> {
    this.#field(field, key, object, path);
    return yield* this.#finish();
  }

  /** Prints the field at the end of a path of response keys. @param value of `field` */
  *along(field: RemoteField, keys: readonly string[], value: Json | undefined, path: Path): Cooperative<readonly Bytes[]> {
    const end = this.follow(field, keys, value, path);
    return yield* this.value(end.last, end.value, path);
  }

  /** Returns the field at the end of a path of response keys, and its value; `null` if the path has a null. */
  follow(
    field: RemoteField,
    keys: readonly string[],
    value: Json | undefined,
    path: Path,
  ): { readonly last: RemoteField; readonly value: Json } {
    let last = field;
    let reached: Json | undefined = value;
    if (reached === undefined) throw failed('expecting a key for each join in the response from remote', path);
    for (const key of keys) {
      const fields: readonly RemoteOutput[] = last.selection?.kind === 'object' ? last.selection.fields : [];
      const next = fields.find((output): output is RemoteField => output.kind === 'field' && output.responseKey === key);
      if (next === undefined) throw new Error(`invariant: the path of a join has a field ${key}`);
      last = next;
      reached = isJsonObject(reached) ? own(reached, answerKeyOf(next)) : null;
      if (reached === undefined) throw failed(`expecting key ${key}`, path);
    }
    return { last, value: reached };
  }

  /** Prints the value of a field. @param isItem true for an item of the field's list */
  *value(field: RemoteField, value: Json, path: Path, isItem = false): Cooperative<readonly Bytes[]> {
    this.#value(field, value, path, isItem);
    return yield* this.#finish();
  }

  *#finish(): Cooperative<readonly Bytes[]> {
    for (let steps = 1; ; steps++) {
      const innermost = this.#printing[this.#printing.length - 1];
      if (innermost === undefined) return this.#text.take();
      if (innermost.kind === 'object') this.#continueObject(innermost);
      else if (innermost.kind === 'list') this.#continueList(innermost);
      else {
        this.#printing.pop();
        yield* this.#text.value(innermost.value);
      }
      if (steps % STEPS === 0) yield;
    }
  }

  #beginObject(fields: readonly RemoteOutput[], object: JsonObject, path: Path): void {
    this.#printing.push({ kind: 'object', fields, object, path, next: 0, isEmpty: true });
  }

  /** Prints fields up to the next one that has fields of its own. */
  #continueObject(of: Extract<Printing, { kind: 'object' }>): void {
    const { fields, object, path } = of;
    const depth = this.#printing.length;
    while (of.next < fields.length) {
      const field = fields[of.next++] as RemoteOutput;
      if (field.kind === 'hidden') continue;
      this.#text.write(`${of.isEmpty ? '{' : ','}${JSON.stringify(field.responseKey)}:`);
      of.isEmpty = false;
      this.#output(field, object, path);
      if (this.#printing.length > depth) return;
    }
    this.#text.write(of.isEmpty ? '{}' : '}');
    this.#printing.pop();
  }

  #continueList(of: Extract<Printing, { kind: 'list' }>): void {
    const { items, selection, levels, path } = of;
    if (of.next < items.length) {
      this.#text.write(of.next === 0 ? '[' : ',');
      const index = of.next++;
      const item = items[index] as Json;
      this.#selected(selection, levels, item, at(path, index));
    } else {
      this.#text.write(items.length === 0 ? '[]' : ']');
      this.#printing.pop();
    }
  }

  #field(field: RemoteField, key: string, object: JsonObject, path: Path): void {
    const value = own(object, key);
    if (value === undefined) throw failed(`expecting key ${key}`, path);
    this.#value(field, value, at(path, field.responseKey));
  }

  #output(output: Exclude<RemoteOutput, { kind: 'hidden' }>, object: JsonObject, path: Path): void {
    switch (output.kind) {
      case 'field':
        this.#field(output, answerKeyOf(output), object, path);
        return;
      case 'typename':
        this.#text.write(JSON.stringify(output.typeName));
        return;
      case 'joined': {
        const key: Key = output.keys.map((part) => joinKeyText(object[joinKeyOf(part)] ?? null, at(path, output.responseKey)));
        this.#text.write(placeholderText(this.#placeholderName, output.join, key));
      }
    }
  }

  #value({ selection, shape }: RemoteField, value: Json, path: Path, isItem = false): void {
    if (selection === null) {
      if (!this.#text.plain(value)) this.#printing.push({ kind: 'value', value });
    } else this.#selected(selection, shape.lastIndexOf('[') + (isItem ? 0 : 1), value, path);
  }

  /** Prints null, or starts a list or an object. */
  #selected(selection: RemoteSelection, levels: number, value: Json, path: Path): void {
    if (value === null) this.#text.write('null');
    else if (levels > 0) {
      if (!isJsonArray(value)) throw failed('expecting a list in the response from remote', path);
      this.#printing.push({ kind: 'list', items: value, selection, levels: levels - 1, path, next: 0 });
    } else if (!isJsonObject(value)) throw failed('expecting an object in the response from remote', path);
    else if (selection.kind === 'object') this.#beginObject(selection.fields, value, path);
    else {
      const typeName = value[TYPE_KEY];
      if (typeof typeName !== 'string') throw failed('expecting the name of a type in the response from remote', path);
      // A type that the schema did not have when it was read: nothing can be selected from it.
      this.#beginObject(selection.types.get(typeName) ?? [], value, path);
    }
  }
}

/** Reads own properties only: a GraphQL name may equal that of an inherited property, such as `constructor`. */
function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Converts a scalar to the text of a join key. */
export function joinKeyText(value: Json, path: Path): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (isJsonNumber(value)) return numberText(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  throw failed('expecting a scalar in the response from remote, to join by', path);
}

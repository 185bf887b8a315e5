/**
 * The response of an action handler as part of ours: checked against the declared type, printed in the client's order, with placeholders
 * for joins.
 */
import type { ActionAnswer, ActionOutput } from '../ir/action.ts';
import { type GraphqlType, printGraphqlType } from '../metadata/graphql-type.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, numberText } from '../util/json.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { AnswerText } from './answer-text.ts';
import { placeholderText, type Key } from './placeholders.ts';

/** A handler's response does not match the declared type. The message is for clients. */
export class InvalidAnswer extends Error {}

/** @throws InvalidAnswer */
export function checkAnswer(value: Json, { type, expects }: ActionAnswer): void {
  if (expects.kind === 'anything') return;
  check(value, type, expects, true);
}

function check(value: Json, type: GraphqlType, expects: ActionAnswer['expects'], isWhole: boolean): void {
  if (value === null) {
    if (type.nonNull) throw new InvalidAnswer('got null for the action webhook response');
    return;
  }
  if (type.kind === 'list' && isJsonArray(value)) {
    for (const item of value) check(item, type.item, expects, false);
    return;
  }
  if (type.kind === 'named' && isExpected(value, expects)) return;
  // The messages differ for items of a list.
  if (!isWhole) throw new InvalidAnswer('expecting array for the action webhook response');
  const name = type.kind === 'named' ? type.name : printGraphqlType({ ...type, nonNull: false });
  throw new InvalidAnswer(`got ${describe(value)} for the action webhook response, expecting ${name}`);
}

/** @throws InvalidAnswer for an object that lacks required fields */
function isExpected(value: Json, expects: ActionAnswer['expects']): boolean {
  switch (expects.kind) {
    case 'anything':
      return true;
    case 'object':
      if (!isJsonObject(value)) return false;
      checkFields(value, expects.required);
      return true;
    case 'plain-scalar':
      return isOfScalar(value, expects.name);
  }
}

function isOfScalar(value: Json, name: string): boolean {
  if (typeof value === 'boolean') return name === 'Boolean';
  if (isJsonNumber(value)) return name === 'Int' || name === 'Float';
  return typeof value === 'string' && (name === 'String' || name === 'ID');
}

/** Names the type of a value in errors; numbers are called strings for compatibility. */
function describe(value: Json): string {
  if (typeof value === 'boolean') return 'scalar Boolean';
  if (isJsonArray(value)) return 'array';
  return isJsonObject(value) ? 'object' : 'scalar String';
}

function checkFields(value: JsonObject, required: readonly string[]): void {
  for (const name of required) {
    if (!Object.hasOwn(value, name)) throw new InvalidAnswer(`field "${name}" expected in webhook response, but not found`);
    if (value[name] === null) throw new InvalidAnswer(`expecting not null value for field "${name}"`);
  }
}

/** Target of printing. */
export interface AnswerSink {
  readonly text: AnswerText;
  /** Placeholder name of the request; unused without joins. */
  readonly placeholderName: string;
}

/** Number of list items that are printed between two checks of the time. */
const STEPS = 64;

/**
 * Prints a checked response, cooperatively.
 * @throws InvalidAnswer if fields are selected from a value that is not an object
 * @throws SvcError if the request has printed more than its limit
 */
export function* writeActionAnswer(value: Json, { fields }: ActionAnswer, sink: AnswerSink): Cooperative<void> {
  if (fields === null) yield* sink.text.value(value);
  else yield* writeSelected(value, fields, 'the action webhook response', sink);
}

/** @param what describes the position, for messages */
function* writeSelected(value: Json, fields: readonly ActionOutput[], what: string, sink: AnswerSink): Cooperative<void> {
  const { text } = sink;
  if (value === null) text.write('null');
  else if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) {
      text.write(index === 0 ? '[' : ',');
      yield* writeSelected(item, fields, what, sink);
      if (index % STEPS === STEPS - 1) yield;
    }
    text.write(value.length === 0 ? '[]' : ']');
  } else if (!isJsonObject(value)) throw new InvalidAnswer(`got ${describe(value)} for ${what}, expecting an object`);
  else {
    for (const [index, field] of fields.entries()) {
      text.write(`${index === 0 ? '{' : ','}${JSON.stringify(field.responseKey)}:`);
      yield* writeOutput(field, value, sink);
    }
    text.write(fields.length === 0 ? '{}' : '}');
  }
}

function* writeOutput(field: ActionOutput, value: JsonObject, sink: AnswerSink): Cooperative<void> {
  const { text, placeholderName } = sink;
  switch (field.kind) {
    case 'typename':
      text.write(JSON.stringify(field.typeName));
      return;
    case 'joined': {
      const key: Key = field.keys.map((name) => keyText(own(value, name), name));
      text.write(placeholderText(placeholderName, field.join, key));
      return;
    }
    case 'field': {
      const inner = own(value, field.name);
      if (field.fields === null) {
        if (!text.plain(inner)) yield* text.value(inner);
      } else {
        yield* writeSelected(inner, field.fields, `the field "${field.name}"`, sink);
        yield;
      }
    }
  }
}

function own(value: JsonObject, name: string): Json {
  return Object.hasOwn(value, name) ? (value[name] as Json) : null;
}

function keyText(value: Json, name: string): string | null {
  if (value === null || typeof value === 'string') return value;
  if (isJsonNumber(value)) return numberText(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  throw new InvalidAnswer(`got ${describe(value)} for the field "${name}", expecting a scalar to join by`);
}

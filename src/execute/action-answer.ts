/**
 * The answer of a handler as part of ours: checked against the type that the action declares, in the client's order, with
 * holes where a join has to follow.
 */
import type { ActionAnswer, ActionOutput } from '../ir/action.ts';
import { type GraphqlType, printGraphqlType } from '../metadata/graphql-type.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, numberText } from '../util/json.ts';
import type { Sliced } from '../util/sliced.ts';
import type { AnswerText } from './answer-text.ts';
import { holeText, type Key } from './holes.ts';

/** What is wrong with an answer, in the words that clients get. */
export class AnswerRefused extends Error {}

/** @throws AnswerRefused */
export function checkAnswer(value: Json, { type, expects }: ActionAnswer): void {
  if (expects.kind === 'anything') return;
  check(value, type, expects, true);
}

function check(value: Json, type: GraphqlType, expects: ActionAnswer['expects'], isWhole: boolean): void {
  if (value === null) {
    if (type.nonNull) throw new AnswerRefused('got null for the action webhook response');
    return;
  }
  if (type.kind === 'list' && isJsonArray(value)) {
    for (const item of value) check(item, type.item, expects, false);
    return;
  }
  if (type.kind === 'named' && isExpected(value, expects)) return;
  // An item of a list is told of in other words than the whole.
  if (!isWhole) throw new AnswerRefused('expecting array for the action webhook response');
  const name = type.kind === 'named' ? type.name : printGraphqlType({ ...type, nonNull: false });
  throw new AnswerRefused(`got ${describe(value)} for the action webhook response, expecting ${name}`);
}

/** @throws AnswerRefused for an object with fields that are not there */
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

/** Numbers are called strings, as they always were. */
function describe(value: Json): string {
  if (typeof value === 'boolean') return 'scalar Boolean';
  if (isJsonArray(value)) return 'array';
  return isJsonObject(value) ? 'object' : 'scalar String';
}

function checkFields(value: JsonObject, required: readonly string[]): void {
  for (const name of required) {
    if (!Object.hasOwn(value, name)) throw new AnswerRefused(`field "${name}" expected in webhook response, but not found`);
    if (value[name] === null) throw new AnswerRefused(`expecting not null value for field "${name}"`);
  }
}

/** Where an answer is printed to. */
export interface Writing {
  readonly text: AnswerText;
  /** That of the request; of no meaning where nothing is joined. */
  readonly holeName: string;
}

/** Objects and items of lists that are printed between two looks at the clock. */
const STEPS = 64;

/**
 * Prints an answer that was checked, with pauses.
 * @throws AnswerRefused where there is no object to select from
 * @throws SvcError where the request has printed more than it may
 */
export function* writeAnswer(value: Json, { fields }: ActionAnswer, writing: Writing): Sliced<void> {
  if (fields === null) yield* writing.text.value(value);
  else yield* writeSelected(value, fields, 'the action webhook response', writing);
}

/** @param what that it is a part of, for messages */
function* writeSelected(value: Json, fields: readonly ActionOutput[], what: string, writing: Writing): Sliced<void> {
  const { text } = writing;
  if (value === null) text.write('null');
  else if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) {
      text.write(index === 0 ? '[' : ',');
      yield* writeSelected(item, fields, what, writing);
      if (index % STEPS === STEPS - 1) yield;
    }
    text.write(value.length === 0 ? '[]' : ']');
  } else if (!isJsonObject(value)) throw new AnswerRefused(`got ${describe(value)} for ${what}, expecting an object`);
  else {
    for (const [index, field] of fields.entries()) {
      text.write(`${index === 0 ? '{' : ','}${JSON.stringify(field.responseKey)}:`);
      yield* writeOutput(field, value, writing);
    }
    text.write(fields.length === 0 ? '{}' : '}');
  }
}

function* writeOutput(field: ActionOutput, value: JsonObject, writing: Writing): Sliced<void> {
  const { text, holeName } = writing;
  switch (field.kind) {
    case 'typename':
      text.write(JSON.stringify(field.typeName));
      return;
    case 'joined': {
      const key: Key = field.keys.map((name) => keyText(own(value, name), name));
      text.write(holeText(holeName, field.join, key));
      return;
    }
    case 'field': {
      const inner = own(value, field.name);
      if (field.fields === null) {
        if (!text.plain(inner)) yield* text.value(inner);
      } else {
        yield* writeSelected(inner, field.fields, `the field "${field.name}"`, writing);
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
  throw new AnswerRefused(`got ${describe(value)} for the field "${name}", expecting a scalar to join by`);
}

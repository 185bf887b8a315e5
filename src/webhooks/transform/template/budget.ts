/** Limits the work of templates: the service does nothing else while one runs. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonNumber, type JsonObject, numberText } from '../../../util/json.ts';

/** Maximum evaluation steps; reading 64 characters of a string counts as one. */
const MAX_STEPS = 2_000_000;
/** Maximum length of all produced strings and results, in characters. */
const MAX_OUTPUT = 33_554_432;
/** Maximum depth of a result. */
const MAX_NESTING = 2_000;
const CHARACTERS_PER_STEP = 64;

/** Thrown when the budget is exhausted; the evaluator adds the position. */
export class BudgetExceeded extends Error {}

export interface Budget {
  /** @throws BudgetExceeded */
  steps(count: number): void;
  /** Called before a string is read. @throws BudgetExceeded */
  reading(characters: number): void;
  /** Called before a number is read: its text may be long. @throws BudgetExceeded */
  number(value: number | JsonNumber): void;
  /** Returns the keys of an object and counts their characters. @throws BudgetExceeded */
  keys(object: JsonObject): readonly string[];
  /** Called before a string is produced. @throws BudgetExceeded */
  output(characters: number): void;
  /** Called before a value is printed as JSON. @throws BudgetExceeded */
  printing(value: Json): void;
}

/** Creates the budget that all templates of a transform share. */
export function createBudget(): Budget {
  let stepsLeft = MAX_STEPS;
  let outputLeft = MAX_OUTPUT;

  const steps = (count: number): void => {
    stepsLeft -= count;
    if (stepsLeft < 0) throw new BudgetExceeded(`The template takes more than ${MAX_STEPS} steps.`);
  };
  const output = (characters: number): void => {
    outputLeft -= characters;
    if (outputLeft < 0) throw new BudgetExceeded(`The template makes more than ${MAX_OUTPUT} characters.`);
  };
  // A value may contain another one many times, so its size is known only here.
  const printing = (value: Json, nesting = 0): void => {
    if (nesting > MAX_NESTING) throw new BudgetExceeded(`The template makes a value that is nested deeper than ${MAX_NESTING} levels.`);
    if (typeof value === 'string') output(value.length + 2);
    else if (isJsonNumber(value)) output(numberText(value).length);
    else if (isJsonArray(value)) {
      output(2 + value.length);
      for (const item of value) printing(item, nesting + 1);
    } else if (isJsonObject(value)) {
      output(2);
      for (const [key, item] of Object.entries(value)) {
        output(key.length + 4);
        printing(item, nesting + 1);
      }
    } else output(5);
  };
  const reading = (characters: number): void => steps(1 + Math.floor(characters / CHARACTERS_PER_STEP));
  return {
    steps,
    output,
    reading,
    number: (value) => {
      if (typeof value !== 'number') reading(value.text.length);
    },
    keys: (object) => {
      const keys = Object.keys(object);
      for (const { length } of keys) reading(length);
      return keys;
    },
    printing: (value) => printing(value),
  };
}

/** Built-in functions of templates. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json } from '../../../util/json.ts';
import type { Budget } from './budget.ts';
import { compareNumbers } from './number.ts';
import { objectFromEntries, jsonTypeName } from './values.ts';

/** An invalid argument; the evaluator adds the position. */
export class FunctionFault extends Error {}

/** @throws FunctionFault, BudgetExceeded */
export type TemplateFunction = (argument: Json, budget: Budget) => Json;

const unfit = (name: string, argument: Json): FunctionFault =>
  new FunctionFault(`Function '${name}' does not take a value of type '${jsonTypeName(argument)}'.`);

/** Wraps a function on strings. */
function ofString(name: string, change: (text: string) => string): TemplateFunction {
  return (argument, budget) => {
    if (typeof argument !== 'string') throw unfit(name, argument);
    budget.output(argument.length);
    const changed = change(argument);
    budget.output(changed.length);
    return changed;
  };
}

const empty: TemplateFunction = (argument, budget) => {
  if (argument === null) return true;
  if (typeof argument === 'string') {
    budget.reading(argument.length);
    return argument.trim() === '';
  }
  if (isJsonNumber(argument)) {
    budget.number(argument);
    return compareNumbers(argument, 0) === 0;
  }
  if (isJsonArray(argument)) return argument.length === 0;
  if (isJsonObject(argument)) return budget.keys(argument).length === 0;
  throw unfit('empty', argument);
};

const size: TemplateFunction = (argument, budget) => {
  if (argument === null) return 0;
  if (isJsonNumber(argument)) return argument;
  if (isJsonArray(argument)) return argument.length;
  if (isJsonObject(argument)) return budget.keys(argument).length;
  if (typeof argument !== 'string') throw unfit('size', argument);
  budget.reading(argument.length * 8);
  let characters = 0;
  for (const _ of argument) characters += 1;
  return characters;
};

const inverse: TemplateFunction = (argument, budget) => {
  if (typeof argument === 'boolean') return !argument;
  if (typeof argument === 'string') {
    budget.reading(argument.length * 8);
    budget.output(argument.length);
    return [...argument].reverse().join('');
  }
  if (isJsonArray(argument)) {
    budget.steps(argument.length);
    return [...argument].reverse();
  }
  if (!isJsonNumber(argument)) throw unfit('inverse', argument);
  budget.number(argument);
  const reciprocal = 1 / Number(argument);
  if (!Number.isFinite(reciprocal)) throw new FunctionFault("Function 'inverse' has no reciprocal of this number.");
  return reciprocal;
};

/** Splits off the first character or element. */
function parts(name: string, argument: Json, budget: Budget): readonly [first: Json | undefined, rest: Json] {
  if (typeof argument === 'string') {
    const code = argument.codePointAt(0);
    if (code === undefined) return [undefined, ''];
    const first = String.fromCodePoint(code);
    budget.output(argument.length);
    return [first, argument.slice(first.length)];
  }
  if (!isJsonArray(argument)) throw unfit(name, argument);
  budget.steps(argument.length);
  return [argument[0], argument.slice(1)];
}

const head: TemplateFunction = (argument, budget) => {
  const [first] = parts('head', argument, budget);
  if (first === undefined) throw new FunctionFault(`Function 'head' has no value for an empty ${jsonTypeName(argument)}.`);
  return first;
};

const tail: TemplateFunction = (argument, budget) => parts('tail', argument, budget)[1];

const WORD = /[\p{L}\p{M}\p{N}']+/gu;

function title(text: string): string {
  return text.toLowerCase().replace(WORD, (word) => {
    const first = String.fromCodePoint(word.codePointAt(0) as number);
    return first.toUpperCase() + word.slice(first.length);
  });
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const toPairs: TemplateFunction = (argument, budget) => {
  if (!isJsonObject(argument)) throw unfit('toPairs', argument);
  budget.keys(argument);
  return Object.entries(argument);
};

const fromPairs: TemplateFunction = (argument, budget) => {
  if (!isJsonArray(argument)) throw unfit('fromPairs', argument);
  budget.steps(argument.length);
  return objectFromEntries(
    argument.map((pair): [string, Json] => {
      const [key, value] = isJsonArray(pair) && pair.length === 2 ? pair : [];
      if (typeof key !== 'string' || value === undefined)
        throw new FunctionFault("Function 'fromPairs' takes a list of [key, value] only.");
      budget.reading(key.length);
      return [key, value];
    }),
  );
};

const removeNulls: TemplateFunction = (argument, budget) => {
  if (!isJsonArray(argument)) throw unfit('removeNulls', argument);
  budget.steps(argument.length);
  return argument.filter((item) => item !== null);
};

const concat: TemplateFunction = (argument, budget) => {
  if (!isJsonArray(argument)) throw unfit('concat', argument);
  budget.steps(argument.length);
  if (argument.every((item) => typeof item === 'string')) {
    for (const { length } of argument) budget.output(length);
    return argument.join('');
  }
  if (argument.every(isJsonArray)) {
    for (const { length } of argument) budget.steps(length);
    return argument.flat(1);
  }
  if (!argument.every(isJsonObject)) throw new FunctionFault("Function 'concat' takes a list of arrays, of strings or of objects.");
  for (const item of argument) budget.keys(item);
  return objectFromEntries(argument.flatMap((item) => Object.entries(item)));
};

const not: TemplateFunction = (argument) => {
  if (typeof argument !== 'boolean') throw unfit('not', argument);
  return !argument;
};

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ['empty', empty],
  ['size', size],
  ['inverse', inverse],
  ['head', head],
  ['tail', tail],
  ['toLower', ofString('toLower', (text) => text.toLowerCase())],
  ['toUpper', ofString('toUpper', (text) => text.toUpperCase())],
  // Through upper case, so that ß and ss are equal.
  ['toCaseFold', ofString('toCaseFold', (text) => text.toUpperCase().toLowerCase())],
  ['toTitle', ofString('toTitle', title)],
  ['escapeUri', ofString('escapeUri', escapeUri)],
  ['toPairs', toPairs],
  ['fromPairs', fromPairs],
  ['removeNulls', removeNulls],
  ['concat', concat],
  ['not', not],
]);

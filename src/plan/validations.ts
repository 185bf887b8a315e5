import type { InputValidation } from '../ir/input-validation.ts';
import type { InsertRows, MutationRoot } from '../ir/mutation.ts';
import type { ValidateInput } from '../metadata/validate-input.ts';

/** Returns the validations to run before a root field writes, in order: each hook once, with all of its input. */
export function validationsOf({ mutation }: MutationRoot): readonly InputValidation[] {
  const inputs = new Map<ValidateInput, InputValidation['input'][number][]>();
  const add = (validations: readonly InputValidation[] = []): void => {
    for (const { hook, input } of validations) {
      const known = inputs.get(hook);
      if (known === undefined) inputs.set(hook, [...input]);
      else for (const item of input) known.push(item);
    }
  };
  const addRows = ({ validations, rows }: InsertRows): void => {
    add(validations);
    for (const { before, after } of rows) {
      for (const nested of before) addRows(nested.rows);
      for (const nested of after) addRows(nested.rows);
    }
  };
  if (mutation.kind === 'insert') addRows(mutation.rows);
  else if (mutation.kind === 'update-many') for (const { validations } of mutation.updates) add(validations);
  else add(mutation.validations);
  return [...inputs].map(([hook, input]) => ({ hook, input }));
}

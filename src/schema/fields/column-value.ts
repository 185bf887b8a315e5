/** Values for columns in inserts and updates. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Operand, Value } from '../../ir/value.ts';
import { nullOperand } from './comparison.ts';
import type { WriteColumn } from './write-table.ts';
import type { InputValue } from '../../graphql-engine/types.ts';

/** Returns the value to store; null if the column accepts it. @throws SvcError */
export function columnValue(input: InputValue, { info, place }: WriteColumn): Operand {
  const value = info.catalog.nullable ? input.value() : nonNullValue(input);
  return { value, type: place.type, list: false };
}

/** Returns an operand of an operator for which null is meaningless. @throws SvcError */
export function nonNullOperand(input: InputValue, type: CatalogType, list: boolean): Operand {
  if (list && input.isNull()) throw nullOperand(input);
  return { value: list ? input.listValue() : nonNullValue(input), type, list };
}

/** Checks a variable's value when it is bound, so that one plan serves all values. */
function nonNullValue(input: InputValue): Value {
  const value = input.value();
  if (value.kind === 'literal' && value.json === null) throw nullOperand(input);
  if (value.kind !== 'variable') return value;
  const { check } = value;
  return {
    ...value,
    check: (json, at) => {
      if (json === null) throw nullOperand(input);
      return check(json, at);
    },
  };
}

/** A value for a column, as inserts and updates give it. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Operand, Value } from '../../ir/value.ts';
import { nullOperand } from './comparison.ts';
import type { WriteColumn } from './write-table.ts';
import type { Input } from '../../graphql-engine/types.ts';

/** What is to be stored; null where the column takes it. @throws SvcError */
export function columnValue(input: Input, { info, place }: WriteColumn): Operand {
  const value = info.catalog.nullable ? input.value() : valueButNull(input);
  return { value, type: place.type, list: false };
}

/** An operand of an operator that means nothing with null. @throws SvcError */
export function operandButNull(input: Input, type: CatalogType, list: boolean): Operand {
  if (list && input.isNull()) throw nullOperand(input);
  return { value: list ? input.listValue() : valueButNull(input), type, list };
}

/** A variable's value is looked at when it is bound, so that one plan serves all of them. */
function valueButNull(input: Input): Value {
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

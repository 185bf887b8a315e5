import type { CatalogType } from '../../../catalog/catalog.ts';
import { aggregateCallOf, type AggregateArgument } from '../../shared/aggregates.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf, isOrdered } from '../families.ts';
import { DOUBLE } from '../base-type.ts';

export const aggregateCall = aggregateCallOf({ count: countCall, boolAnd: sql`logical_and`, boolOr: sql`logical_or` });

/** Returns the type of an aggregate over values of a type. */
export function aggregateResultType(name: string, type: CatalogType): CatalogType {
  if (name === 'sum' || name === 'max' || name === 'min') return type;
  return name === 'avg' && familyOf(type) === 'decimal' ? type : DOUBLE;
}

function countCall(operands: readonly AggregateArgument[], distinct: boolean): Sql {
  const [operand] = operands;
  if (operand === undefined) return sql`count(*)`;
  if (operands.length > 1) {
    if (!distinct) return sql`count(*)`;
    // `count(distinct …)` does not accept structs, so their JSON texts are counted.
    const texts = operands.map(({ value }) => sql`to_json_string(${value})`);
    return sql`count(distinct concat(${join(texts, sql`, ',', `)}))`;
  }
  const { value, type } = operand;
  if (!distinct) return sql`count(${value})`;
  return isOrdered(type) ? sql`count(distinct ${value})` : sql`count(distinct if(${value} is null, null, to_json_string(${value})))`;
}

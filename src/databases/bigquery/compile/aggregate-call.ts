import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregateOperand } from '../../shared/aggregates.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf, isOrdered } from '../families.ts';
import { DOUBLE } from '../type-of.ts';

/** An aggregate over values; `count` of several values counts rows of them, of none all rows. */
export function aggregateCall(name: string, operands: readonly AggregateOperand[], distinct: boolean): Sql {
  const [operand] = operands;
  if (name === 'count') return countCall(operands, distinct);
  if (operand === undefined) throw new Error(`invariant: ${name} of nothing`);
  const { value } = operand;
  switch (name) {
    case 'sum':
      return sql`sum(${value})`;
    case 'avg':
      return sql`avg(${value})`;
    case 'max':
      return sql`max(${value})`;
    case 'min':
      return sql`min(${value})`;
    case 'stddev':
    case 'stddev_samp':
      return sql`stddev_samp(${value})`;
    case 'stddev_pop':
      return sql`stddev_pop(${value})`;
    case 'variance':
    case 'var_samp':
      return sql`var_samp(${value})`;
    case 'var_pop':
      return sql`var_pop(${value})`;
    case 'bool_and':
      return sql`logical_and(${value})`;
    case 'bool_or':
      return sql`logical_or(${value})`;
    default:
      throw new Error(`invariant: unknown aggregate ${name}`);
  }
}

/** Of what an aggregate over a type is. */
export function aggregateType(name: string, type: CatalogType): CatalogType {
  if (name === 'sum' || name === 'max' || name === 'min') return type;
  return name === 'avg' && familyOf(type) === 'decimal' ? type : DOUBLE;
}

function countCall(operands: readonly AggregateOperand[], distinct: boolean): Sql {
  const [operand] = operands;
  if (operand === undefined) return sql`count(*)`;
  if (operands.length > 1) {
    if (!distinct) return sql`count(*)`;
    // Structures are not told apart; the JSON texts of values are.
    const texts = operands.map(({ value }) => sql`to_json_string(${value})`);
    return sql`count(distinct concat(${join(texts, sql`, ',', `)}))`;
  }
  const { value, type } = operand;
  if (!distinct) return sql`count(${value})`;
  return isOrdered(type) ? sql`count(distinct ${value})` : sql`count(distinct if(${value} is null, null, to_json_string(${value})))`;
}

/** The aggregate functions and the columns and computed fields that each takes. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Read } from '../../ir/read.ts';
import type { RoleTable, ValuePlace } from './role-table.ts';

export interface Aggregate {
  /** `sum`, `stddev_pop`: the name in the IR too. */
  readonly name: string;
  readonly takes: 'numeric' | 'comparable';
  /** Of the operand's type; else `Float`, where the operand is a column. */
  readonly sameType: boolean;
}

export const AGGREGATES: readonly Aggregate[] = [
  { name: 'sum', takes: 'numeric', sameType: true },
  ...['avg', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'].map(
    (name): Aggregate => ({ name, takes: 'numeric', sameType: false }),
  ),
  { name: 'max', takes: 'comparable', sameType: true },
  { name: 'min', takes: 'comparable', sameType: true },
];

export interface AggregateOperand {
  readonly name: string;
  readonly read: Read;
  readonly type: CatalogType;
  readonly place: ValuePlace;
  readonly description: string | null;
  /** A computed field: clients know all its aggregates under its own type. */
  readonly computed: boolean;
}

/** Columns, and scalar computed fields without user arguments. */
export function aggregateOperands(table: RoleTable, aggregate: Aggregate): readonly AggregateOperand[] {
  const operands: AggregateOperand[] = [];
  for (const { name, read, place, info } of table.columns.values()) {
    if (place[aggregate.takes])
      operands.push({ name, read, type: place.type, place, description: info.comment ?? info.catalog.comment, computed: false });
  }
  for (const computed of table.computedFields) {
    const call = computed.arguments.plain;
    if (computed.kind !== 'scalar' || call === null || !computed.place[aggregate.takes]) continue;
    const { name, place, description } = computed;
    operands.push({ name, read: computed.read(call), type: place.type, place, description, computed: true });
  }
  return operands;
}

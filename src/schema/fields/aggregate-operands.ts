/** Columns and computed fields that an aggregate function accepts. */
import type { AggregateFunction } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { RoleTable } from './role-table.ts';
import type { Read } from '../../ir/bool-exp.ts';
import type { ValuePlace } from './value-place.ts';

export interface AggregateOperand {
  readonly name: string;
  readonly read: Read;
  readonly type: CatalogType;
  readonly place: ValuePlace;
  readonly description: string | null;
  /** True for a computed field: all of its aggregates have its own type, for compatibility with clients. */
  readonly computed: boolean;
}

/** Returns columns, and scalar computed fields without user arguments. */
export function aggregateOperands(table: RoleTable, aggregate: AggregateFunction): readonly AggregateOperand[] {
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

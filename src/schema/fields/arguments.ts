/** `distinct_on`, `limit`, `offset`, `order_by` and `where`, and the set of rows that they select. */
import { SvcError } from '../../errors/svc-error.ts';
import { guarded, type Read, TRUE } from '../../ir/bool-exp.ts';
import type { OrderBy, RowSet } from '../../ir/select.ts';
import { at, type Path } from '../../util/path.ts';
import type { CollectedField, InputValue, InputField, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { builtin, NON_NEGATIVE_INT, OFFSET_INT } from '../../graphql-engine/input/built-in-scalars.ts';
import { ARGUMENT_DESCRIPTIONS } from './descriptions.ts';
import { nonNullArgument, invalid } from './input.ts';
import { type RoleColumn, type RoleTable, type SelectArguments, roleTypeName } from './role-table.ts';

/** Arguments of a field that returns rows of the table, and their translation. */
export function selectArguments(table: RoleTable): SelectArguments {
  const { capabilities } = table.source.info.backend;
  const name = (key: keyof typeof ARGUMENT_DESCRIPTIONS): string => table.source.field(key);
  return {
    args: lazyMap(() => {
      const args = new Map<string, InputField>();
      const add = (key: keyof typeof ARGUMENT_DESCRIPTIONS, type: InputTypeRef): void => {
        args.set(name(key), { name: name(key), description: ARGUMENT_DESCRIPTIONS[key], type });
      };
      const column = table.selectColumn();
      if (column !== null && capabilities.distinctOn) add('distinct_on', listTypeRef(typeRef(column.name, () => column, true)));
      add('limit', builtin(NON_NEGATIVE_INT));
      add('offset', builtin(OFFSET_INT));
      if (!table.orderBy().empty) add('order_by', listTypeRef(typeRef(roleTypeName(table, 'order_by'), () => table.orderBy().type, true)));
      add(
        'where',
        typeRef(roleTypeName(table, 'bool_exp'), () => table.boolExp().type),
      );
      return args;
    }),
    rows: (field) => {
      const where = nonNullArgument(field.args, name('where'));
      const orderBy = nonNullArgument(field.args, name('order_by'));
      const distinctOn = selectedColumns(table, nonNullArgument(field.args, name('distinct_on')), true);
      const order = orderBy === null ? [] : orderTerms(table, orderBy);
      checkDistinct(distinctOn, order, field);
      const limit = nonNullArgument(field.args, name('limit'));
      const offset = nonNullArgument(field.args, name('offset'));
      return narrowedRows(table, {
        where: where === null ? TRUE : table.boolExp().condition(where),
        distinctOn,
        orderBy: order,
        limit: limit === null ? null : Number(limit.json()),
        offset: offset === null ? null : offset.value(),
      });
    },
  };
}

/** Rows that a request selects, without permissions. */
export type Narrowing = RowSet;

/** Returns the rows that the role sees, narrowed by the request; `limit` is that of the request alone. */
export function narrowedRows({ access }: Pick<RoleTable, 'access'>, narrowing: Narrowing): RowSet {
  return { ...narrowing, where: guarded(access.filter, narrowing.where) };
}

/** Returns the smaller of two limits, of which `null` is none. */
export function smallerLimit(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

/** A map that is built on first use. */
export function lazyMap<V>(make: () => ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  const map = lazy(make);
  return {
    get size() {
      return map().size;
    },
    get: (key) => map().get(key),
    has: (key) => map().has(key),
    keys: () => map().keys(),
    values: () => map().values(),
    entries: () => map().entries(),
    forEach: (run, self) => map().forEach(run, self),
    [Symbol.iterator]: () => map()[Symbol.iterator](),
  };
}

/**
 * Returns the columns in a list of `T_select_column`, each once.
 * @param distinct true if distinct values are selected, which requires sortable columns
 */
export function selectedColumns(table: RoleTable, input: InputValue | null, distinct: boolean): readonly Read[] {
  const names = new Set(input === null ? [] : input.items().map((item) => item.enumValue().value));
  return [...names].flatMap((name) => {
    const column = table.columns.get(name);
    if (column === undefined) return [];
    if (distinct && input !== null) rejectUnsortable(table, column, input.path);
    return column.read;
  });
}

/** @throws SvcError if the database cannot sort the values of the column */
export function rejectUnsortable(
  table: RoleTable,
  { name, place }: RoleColumn,
  path: Path,
  code: 'validation-failed' | 'unexpected-payload' = 'validation-failed',
): void {
  if (place.sortable) return;
  const type = table.source.shared.types.print(place.type);
  throw new SvcError(code, `column "${name}" has type "${type}", which the database cannot sort`, { path });
}

/** Returns the order of an `order_by` argument. */
export function orderTerms(table: RoleTable, input: InputValue): readonly OrderBy[] {
  return input.items().flatMap((item) => (item.isNull() ? [] : table.orderBy().terms(item)));
}

/** If there is an order, its first entries must be the distinct columns, in any order. */
function checkDistinct(distinctOn: readonly Read[], order: readonly OrderBy[], field: CollectedField): void {
  if (distinctOn.length === 0 || order.length === 0) return;
  const columns = new Set(distinctOn.map((read) => (read.kind === 'column' ? read.column : null)));
  const first = new Set(
    order.slice(0, columns.size).map(({ term }) => (term.kind === 'read' && term.read.kind === 'column' ? term.read.column : null)),
  );
  if (first.size !== columns.size || [...columns].some((column) => !first.has(column))) {
    throw invalid('"distinct_on" columns must match initial "order_by" columns', at(field.path, 'args'));
  }
}

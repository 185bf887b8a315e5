/** `distinct_on`, `limit`, `offset`, `order_by` and `where`, and the set of rows that they make. */
import { SvcError } from '../../errors/svc-error.ts';
import { guarded, type Read, TRUE } from '../../ir/bool-exp.ts';
import type { OrderBy, RowSet } from '../../ir/select.ts';
import { at, type Path } from '../../util/path.ts';
import type { CollectedField, Input, InputField, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listOf, named } from '../../graphql-engine/types.ts';
import { builtin, NON_NEGATIVE_INT, OFFSET_INT } from '../../graphql-engine/input/built-in-scalars.ts';
import { ARGUMENT_DESCRIPTIONS } from './descriptions.ts';
import { given, invalid } from './input.ts';
import { type RoleColumn, type RoleTable, type SelectArguments, typeOf } from './role-table.ts';

/** Arguments of a field that gives rows of the table, and the rows that they ask for. */
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
      if (column !== null && capabilities.distinctOn) add('distinct_on', listOf(named(column.name, () => column, true)));
      add('limit', builtin(NON_NEGATIVE_INT));
      add('offset', builtin(OFFSET_INT));
      if (!table.orderBy().empty) add('order_by', listOf(named(typeOf(table, 'order_by'), () => table.orderBy().type, true)));
      add(
        'where',
        named(typeOf(table, 'bool_exp'), () => table.boolExp().type),
      );
      return args;
    }),
    rows: (field) => {
      const where = given(field.args, name('where'));
      const orderBy = given(field.args, name('order_by'));
      const distinctOn = selectedColumns(table, given(field.args, name('distinct_on')), true);
      const order = orderBy === null ? [] : orderTerms(table, orderBy);
      checkDistinct(distinctOn, order, field);
      const limit = given(field.args, name('limit'));
      const offset = given(field.args, name('offset'));
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

/** What a request says of the rows that it wants, and no permission. */
export type Narrowing = RowSet;

/** The rows that the role sees, narrowed; `limit` is that of the request alone. */
export function narrowedRows({ access }: Pick<RoleTable, 'access'>, narrowing: Narrowing): RowSet {
  return { ...narrowing, where: guarded(access.filter, narrowing.where) };
}

/** A map that is made when it is first read. */
function lazyMap<V>(make: () => ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  const made = lazy(make);
  return {
    get size() {
      return made().size;
    },
    get: (key) => made().get(key),
    has: (key) => made().has(key),
    keys: () => made().keys(),
    values: () => made().values(),
    entries: () => made().entries(),
    forEach: (run, self) => made().forEach(run, self),
    [Symbol.iterator]: () => made()[Symbol.iterator](),
  };
}

/**
 * The columns that a list of `T_select_column` names, each once.
 * @param distinct different values are looked for, which the database sorts
 */
export function selectedColumns(table: RoleTable, input: Input | null, distinct: boolean): readonly Read[] {
  const names = new Set(input === null ? [] : input.items().map((item) => item.enumValue().value));
  return [...names].flatMap((name) => {
    const column = table.columns.get(name);
    if (column === undefined) return [];
    if (distinct && input !== null) refuseUnsorted(table, column, input.path);
    return column.read;
  });
}

/** @throws SvcError if the database cannot sort the values of the column */
export function refuseUnsorted(
  table: RoleTable,
  { name, place }: RoleColumn,
  path: Path,
  code: 'validation-failed' | 'unexpected-payload' = 'validation-failed',
): void {
  if (place.sortable) return;
  const type = table.source.shared.types.print(place.type);
  throw new SvcError(code, `column "${name}" has type "${type}", which the database cannot sort`, { path });
}

function orderTerms(table: RoleTable, input: Input): readonly OrderBy[] {
  return input.items().flatMap((item) => (item.isNull() ? [] : table.orderBy().terms(item)));
}

/** With an order, its first entries must be the distinct columns, in any order. */
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

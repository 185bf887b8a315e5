/** `T_on_conflict`, `T_constraint` and `T_update_column`: what happens to rows that exist already. */
import type { CatalogTable } from '../../catalog/catalog.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import { type BoolExp, guarded, TRUE } from '../../ir/bool-exp.ts';
import type { OnConflict } from '../../ir/mutation.ts';
import { invariant } from '../../errors/svc-error.ts';
import { BoundedCache } from '../../util/bounded-cache.ts';
import type { EnumSchemaType, InputValue, InputField, InputObjectType } from '../../graphql-engine/types.ts';
import { enumType, lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { quoted } from './descriptions.ts';
import { rejectRemoteConditions, rejectScatteredKey } from './distribution.ts';
import { invalid } from './input.ts';
import { autoIncrementColumns } from './row-key.ts';
import type { UpdateAccess } from './write-access.ts';
import type { OnConflictType, WriteTable } from './write-table.ts';

const PLACEHOLDER = '_PLACEHOLDER';

/** Returns null if the table has no constraint with a name, or the kind of database does not support the clause. */
export function onConflictType(table: WriteTable): OnConflictType | null {
  const { source, info } = table;
  if (!source.info.backend.capabilities.onConflict) return null;
  const constraint = constraintEnum(table);
  if (constraint === null) return null;
  const updateColumn = lazy(() => updateColumnEnum(table));
  const names = { constraint: source.field('constraint'), columns: source.field('update_columns'), where: source.field('where') };
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, 'on_conflict'),
    description: `on_conflict condition type for table ${quoted(source.info, info.name)}`,
    fields: lazy(() => {
      const fields: readonly InputField[] = [
        { name: names.constraint, description: null, type: typeRef(constraint.name, () => constraint, true) },
        {
          name: names.columns,
          description: null,
          type: listTypeRef(typeRef(source.tableType(info, 'update_column'), updateColumn, true), true),
          default: [],
        },
        { name: names.where, description: null, type: typeRef(source.tableType(info, 'bool_exp'), () => table.boolExp().type) },
      ];
      return new Map(fields.map((field) => [field.name, field]));
    }),
  };
  const common = new CommonClauses();
  return { type, clause: (input) => clause(table, names, input, common), isCommon: (one) => common.has(one) };
}

function clause(
  table: WriteTable,
  names: { readonly constraint: string; readonly columns: string; readonly where: string },
  input: InputValue,
  common: CommonClauses,
): OnConflict {
  const inputs = new Map(input.entries().map((entry) => [entry.field.name, entry.input]));
  const constraintInput = inputs.get(names.constraint);
  const constraint = constraintInput?.enumValue().value;
  invariant(constraintInput !== undefined && constraint !== undefined, 'a required field is there');
  const columns = updatedColumns(table, inputs.get(names.columns));
  const whereInput = inputs.get(names.where);
  const where = whereInput === undefined || whereInput.isNull() ? null : table.boolExp().condition(whereInput);
  const access = table.update;
  const { primaryKey, uniqueConstraints } = table.info.catalog;
  const key = primaryKey?.name === constraint ? primaryKey : uniqueConstraints.find(({ name }) => name === constraint);
  if (key !== undefined) rejectScatteredKey(table.info.catalog, key.columns, constraintInput.path);
  const make = (): OnConflict => {
    const update = columns.length === 0 || access === null ? null : updateOnConflict(access, columns, where ?? TRUE);
    if (update !== null) rejectRemoteConditions(table.source.info, table.info.catalog, update.where, input.path);
    return { constraint, ...(key === undefined ? {} : conflictKey(table.info.catalog, key.columns)), update };
  };
  return where === null ? common.get(JSON.stringify([constraint, ...columns]), make) : make();
}

/** Maximum number of stored clauses: few different ones occur. */
const MAX_CLAUSES = 64;

/** Clauses without conditions: rows whose clauses are the same object may share a statement. */
class CommonClauses {
  readonly #byText = new BoundedCache<string, OnConflict>({ entries: MAX_CLAUSES });
  readonly #known = new WeakSet<OnConflict>();

  get(text: string, make: () => OnConflict): OnConflict {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const made = make();
    this.#byText.set(text, made);
    this.#known.add(made);
    return made;
  }

  has(clause: OnConflict): boolean {
    return this.#known.has(clause);
  }
}

/** Returns the columns by which rows conflict, as part of a clause. */
export function conflictKey(table: CatalogTable, key: readonly string[]): Pick<OnConflict, 'key' | 'autoIncrement'> {
  const autoIncrement = autoIncrementColumns(table, key);
  return { key, ...(autoIncrement.length === 0 ? {} : { autoIncrement }) };
}

/** Returns the update of an existing row. */
export function updateOnConflict(access: UpdateAccess, columns: readonly string[], where: BoolExp): OnConflict['update'] {
  return { columns, presets: access.presets, where: guarded(access.filter, where), check: access.check };
}

/** Returns distinct database names. */
function updatedColumns(table: WriteTable, input: InputValue | undefined): readonly string[] {
  const columns = new Set<string>();
  for (const item of input?.items() ?? []) {
    const column = table.updateColumns().get(item.enumValue().value);
    if (column === undefined) throw invalid('erroneous column name', item.path);
    columns.add(column.info.name);
  }
  return [...columns];
}

function constraintEnum({ source, info }: WriteTable): EnumSchemaType | null {
  const { primaryKey, uniqueConstraints } = info.catalog;
  const keys = (primaryKey === null ? uniqueConstraints : [primaryKey, ...uniqueConstraints]).filter((key) => isGraphqlName(key.name));
  if (keys.length === 0) return null;
  const description = `unique or primary key constraints on table ${quoted(source.info, info.name)}`;
  const values = () =>
    keys.map(({ name, columns }) => {
      const printed = columns.map((column) => `"${column}"`).join(', ');
      return { name, description: `unique or primary key constraint on columns ${printed}`, value: name };
    });
  return { ...enumType(source.tableType(info, 'constraint'), description, values), derivedFrom: info };
}

/** An enum cannot be empty, so without columns it has a value that cannot be used. */
function updateColumnEnum(table: WriteTable): EnumSchemaType {
  const { source, info } = table;
  const description = `update columns of table ${quoted(source.info, info.name)}`;
  const values = () => {
    const columns = [...table.updateColumns().keys()].map((name) => ({ name, description: 'column name', value: name }));
    return columns.length > 0 ? columns : [{ name: PLACEHOLDER, description: 'placeholder (do not use)', value: PLACEHOLDER }];
  };
  return { ...enumType(source.tableType(info, 'update_column'), description, values), derivedFrom: info };
}

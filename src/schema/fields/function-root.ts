/**
 * Tracked functions as root fields: `f` and `f_aggregate` for reading; `f` of a volatile function as a mutation, where it is a select that
 * runs in order among the writes.
 */
import { and, type BoolExp, or } from '../../ir/bool-exp.ts';
import type { FunctionInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import { functionArgsTypeName } from '../../schema-cache/naming.ts';
import type { InputField, OutputField, RootMeaning } from '../../graphql-engine/types.ts';
import { listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { ADMIN_ROLE } from '../../auth/session.ts';
import { commentOr, quoted } from './descriptions.ts';
import { type FunctionArguments, functionArguments } from './function-arguments.ts';
import type { RoleSource } from './role-context.ts';
import { type RoleTable, roleTypeName } from './role-table.ts';
import { aggregateQuery, listQuery } from './select.ts';
import { nameKey } from '../../catalog/catalog.ts';

export type FunctionRootKey = 'function' | 'function_aggregate';

/** Returns true if the role has the root field; the function decides whether it is a query or a mutation. */
export function functionIsVisible(source: RoleSource, info: FunctionInfo, key: FunctionRootKey): boolean {
  if (!source.context.info.backend.capabilities.functions) return false;
  const target = source.context.info.tables.get(nameKey(info.returns));
  const access = target === undefined ? null : source.access(target);
  if (target === undefined || access === null) return false;
  if (key === 'function_aggregate' ? !access.allowAggregations : !source.selectsRows(target)) return false;
  const inferred = info.exposedAs === 'query' && source.context.options.inferFunctionPermissions;
  return inferred || source.role === ADMIN_ROLE || info.permissions.has(source.role);
}

interface FunctionTarget {
  readonly target: RoleTable;
  readonly call: FunctionArguments;
}

/** Returns the table whose rows a function returns, and the arguments of its calls; null if the role may not select from it. */
export function functionTarget(source: RoleSource, info: FunctionInfo): FunctionTarget | null {
  const { context } = source;
  const target = source.table(info.returns);
  if (target === null) return null;
  const call = functionArguments(context, info.catalog, {
    row: null,
    session: info.sessionArgument,
    typeName: functionArgsTypeName(context.info, info, context.info.backend.defaultSchema),
    description: `input parameters for function ${quoted(context.info, info.name)}`,
  });
  return { target, call };
}

/** Returns the root field; the function must be visible. */
export function functionRootField(source: RoleSource, info: FunctionInfo, key: FunctionRootKey, name: string): OutputField | undefined {
  const { context } = source;
  const found = functionTarget(source, info);
  if (found === null) return undefined;
  const { target, call } = found;
  const printed = quoted(context.info, info.name);
  const args = new Map<string, InputField>(call.argument === null ? [] : [[call.argument.name, call.argument]]);
  for (const [argument, field] of target.selectArguments().args) args.set(argument, field);

  const aggregate = key === 'function_aggregate';
  const list = info.catalog.returnsSet;
  const row = typeRef(target.name, () => target.rows().type, list);
  const returned = quoted(context.info, info.returns);
  const automatic = aggregate
    ? `execute function ${printed} and query aggregates on result of table type ${returned}`
    : `execute ${info.exposedAs === 'mutation' ? 'VOLATILE ' : ''}function ${printed} which returns ${returned}`;
  const meaning: RootMeaning = {
    kind: 'select',
    source: context.info.name,
    translate: (field, alias) => {
      const from = { kind: 'function' as const, call: call.call(field) };
      const query = aggregate ? aggregateQuery(target, field, from) : listQuery(target, field, from, list ? 'list' : 'single');
      if (list) return { alias, query };
      return { alias, query: { ...query, rows: { ...query.rows, where: and(isRow(target.info), query.rows.where) } } };
    },
  };
  const comment = info.customRootFields.get(key)?.comment;
  return {
    name,
    description: commentOr(comment === undefined ? info.comment : comment, automatic),
    type: aggregate ? typeRef(roleTypeName(target, 'aggregate'), () => target.aggregate().type, true) : list ? listTypeRef(row, true) : row,
    args,
    meaning,
  };
}

/** A function that does not return a set returns NULL for "no row", which is read as a row of nulls. */
function isRow(table: TableInfo): BoolExp {
  return or(
    ...table.catalog.columns.map(
      ({ name, type }): BoolExp => ({ kind: 'is-null', left: { kind: 'column', column: name, type }, isNull: false }),
    ),
  );
}

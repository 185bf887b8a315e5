import type { CatalogFunction, CatalogType, QualifiedName } from '../../catalog/catalog.ts';
import type { ComputedField } from '../../metadata/computed-field.ts';
import { Defect, defectBecause, fieldNameProblem } from '../inconsistency.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import type { ComputedFieldInfo } from '../schema-cache.ts';
import { type RecordedLookups, printTable, type StageSource } from './lookups.ts';
import { requireScalar } from './type-name.ts';
import type { FunctionArgument, FunctionCall } from '../../ir/function-call.ts';

/** Returns the only function with a name. @throws Defect */
export function singleFunction(source: StageSource, name: QualifiedName, overloads: readonly CatalogFunction[]): CatalogFunction {
  const printed = printTable(source, name);
  if (overloads[0] === undefined) throw new Defect(`no such function exists: "${printed}"`);
  if (overloads.length > 1) throw new Defect(`function "${printed}" is overloaded. Overloaded functions are not supported`);
  return overloads[0];
}

export function isJson(source: StageSource, type: CatalogType): boolean {
  return !type.array && source.backend.types.scalar(type).json;
}

/** @throws Defect with every reason why the function cannot be a field of the table */
export function resolveComputedField(
  source: StageSource,
  table: QualifiedName,
  field: ComputedField,
  lookups: RecordedLookups,
): ComputedFieldInfo {
  const found = singleFunction(source, field.function, lookups.functions(field.function));
  if (source.backend.functionsOfColumns === true) return resolveFunctionOfColumns(source, table, field, found, lookups);
  const printed = `"${printTable(source, field.function)}"`;
  const reasons: string[] = [];
  reasons.push(...nameReasons(field.name));
  if (found.volatility === 'volatile') reasons.push(`the function ${printed} is of type VOLATILE; cannot be added as a computed field`);
  const returns = returnsOf(source, found, lookups);
  if (typeof returns === 'string') reasons.push(returns);
  const tableArgument = tableArgumentOf(source, table, field, found, reasons);
  const sessionArgument = sessionArgumentOf(source, field, found, reasons);
  if (reasons.length > 0 || typeof returns === 'string') {
    throw defectBecause(`the computed field "${field.name}" cannot be added to table "${printTable(source, table)}"`, reasons);
  }
  for (const [i, argument] of found.arguments.entries()) {
    if (i !== tableArgument && i !== sessionArgument) requireScalar(source, argument.type);
  }
  if (returns.kind === 'scalar') requireScalar(source, returns.type);
  return { name: field.name, comment: field.comment, function: found, tableArgument, sessionArgument, returns };
}

function nameReasons(name: string): readonly string[] {
  const problem = fieldNameProblem(name);
  if (problem === null) return [];
  return [isGraphqlName(name) ? problem : `"${name}" is not a valid GraphQL name`];
}

function resolveFunctionOfColumns(
  source: StageSource,
  table: QualifiedName,
  field: ComputedField,
  found: CatalogFunction,
  lookups: RecordedLookups,
): ComputedFieldInfo {
  const printed = `"${printTable(source, field.function)}"`;
  const reasons: string[] = [];
  reasons.push(...nameReasons(field.name));
  if (found.arguments.length === 0) reasons.push(`the function ${printed} has no input arguments`);
  const { argumentMapping = new Map<string, string>(), returnTable } = field;
  const own = lookups.tracked(table);
  const columnArguments = new Map<number, string>();
  for (const [argument, column] of argumentMapping) {
    const index = found.arguments.findIndex(({ name }) => name === argument);
    if (index < 0) reasons.push(`"${argument}" is not an input argument of the function ${printed}`);
    const mapped = own?.columns.find(({ name }) => name === column);
    if (mapped === undefined) reasons.push(`"${column}" is not a column of table "${printTable(source, table)}"`);
    const expected = found.arguments[index]?.type;
    if (mapped !== undefined && expected !== undefined && source.backend.types.joins?.(mapped.type, expected) === false) {
      const print = source.backend.types.print;
      reasons.push(
        `the argument "${argument}" of type ${print(expected)} does not take the column "${column}" of type ${print(mapped.type)}`,
      );
    }
    if (index >= 0) columnArguments.set(index, column);
  }
  if (argumentMapping.size === 0) reasons.push('"argument_mapping" must map an argument to a column');
  if (returnTable === undefined || lookups.tracked(returnTable) === undefined) {
    const name = returnTable === undefined ? '' : ` "${printTable(source, returnTable)}"`;
    reasons.push(`the table${name} whose rows the function ${printed} returns is not tracked or not found in database`);
  }
  if (reasons.length > 0 || returnTable === undefined) {
    throw defectBecause(`the computed field "${field.name}" cannot be added to table "${printTable(source, table)}"`, reasons);
  }
  for (const [i, argument] of found.arguments.entries()) if (!columnArguments.has(i)) requireScalar(source, argument.type);
  return {
    name: field.name,
    comment: field.comment,
    function: found,
    tableArgument: null,
    columnArguments,
    sessionArgument: null,
    returns: { kind: 'table', table: returnTable },
  };
}

function returnsOf(source: StageSource, found: CatalogFunction, lookups: RecordedLookups): ComputedFieldInfo['returns'] | string {
  const printed = `"${printTable(source, found.name)}"`;
  if (found.returnsTable !== null && found.returnsSet) {
    if (lookups.tracked(found.returnsTable) !== undefined) return { kind: 'table', table: found.returnsTable };
    const table = printTable(source, found.returnsTable);
    return `the function ${printed} returning set of table "${table}" is not tracked or not found in database`;
  }
  const { kind, name } = found.returns;
  if (found.returnsSet || found.returnsTable !== null || kind === 'composite' || kind === 'pseudo') {
    return `the function ${printed} returning type ${name} is not a BASE type`;
  }
  return { kind: 'scalar', type: found.returns };
}

function tableArgumentOf(
  source: StageSource,
  table: QualifiedName,
  field: ComputedField,
  found: CatalogFunction,
  reasons: string[],
): number {
  const printed = `"${printTable(source, found.name)}"`;
  if (found.arguments.length === 0) {
    reasons.push(`the function ${printed} has no input arguments`);
    return -1;
  }
  const index = field.tableArgument === undefined ? 0 : found.arguments.findIndex(({ name }) => name === field.tableArgument);
  const argument = found.arguments[index];
  if (argument === undefined) {
    reasons.push(`"${field.tableArgument}" is not an input argument of the function ${printed}`);
    return -1;
  }
  const which =
    field.tableArgument === undefined
      ? `first argument of the function ${printed}`
      : `argument "${field.tableArgument}" of the function ${printed}`;
  if (argument.type.kind !== 'composite' || argument.type.array) reasons.push(`the ${which} is not COMPOSITE type`);
  else if (argument.type.schema !== table.schema || argument.type.name !== table.name) {
    const type = printTable(source, { schema: argument.type.schema, name: argument.type.name });
    reasons.push(`the ${which} of type "${type}" is not the table to which the computed field is being added`);
  }
  return index;
}

function sessionArgumentOf(source: StageSource, field: ComputedField, found: CatalogFunction, reasons: string[]): number | null {
  if (field.sessionArgument === undefined) return null;
  const printed = `"${printTable(source, found.name)}"`;
  const index = found.arguments.findIndex(({ name }) => name === field.sessionArgument);
  const argument = found.arguments[index];
  if (argument === undefined) reasons.push(`"${field.sessionArgument}" is not an input argument of the function ${printed}`);
  else if (!isJson(source, argument.type))
    reasons.push(`argument "${field.sessionArgument}" of the function ${printed} is not of type JSON`);
  return index;
}

/** Returns true if the caller can pass arguments to the field. */
export function takesArguments(field: ComputedFieldInfo): boolean {
  const own = (field.tableArgument === null ? 0 : 1) + (field.sessionArgument === null ? 0 : 1) + (field.columnArguments?.size ?? 0);
  return field.function.arguments.length > own;
}

/** Returns the call for the current row of a field to which the caller passes no arguments. */
export function callFor(field: ComputedFieldInfo): FunctionCall {
  return {
    function: field.function.name,
    volatile: field.function.volatility === 'volatile',
    ...(field.function.volatility === 'immutable' ? { immutable: true } : {}),
    arguments: field.function.arguments.map((argument, i): FunctionArgument => {
      if (i === field.tableArgument) return { kind: 'row' };
      const column = field.columnArguments?.get(i);
      if (column !== undefined) return { kind: 'column', column };
      return {
        kind: 'value',
        name: argument.name === '' ? null : argument.name,
        operand: { value: { kind: 'session-variables' }, type: argument.type, list: false },
      };
    }),
  };
}

import type { CatalogFunction } from '../../catalog/catalog.ts';
import type { FunctionMetadata } from '../../metadata/function.ts';
import { isGraphqlName, isSchemaName } from '../../model/graphql-name.ts';
import { Defect, defectBecause, fromDefect, inconsistent } from '../inconsistency.ts';
import { tableBaseName } from '../naming.ts';
import type { FunctionInfo, Inconsistency, TableInfo } from '../schema-cache.ts';
import { isJson, singleFunction } from './computed-field.ts';
import { describeFunction, describeFunctionPermission } from './describe.ts';
import type { InheritancePlan } from './inherited-role.ts';
import { printTable, type StageSource } from './lookups.ts';
import { requireScalar } from './type-name.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';
import { nameKey } from '../../catalog/catalog.ts';

export interface FunctionResult {
  readonly metadata: FunctionMetadata;
  readonly overloads: readonly CatalogFunction[] | undefined;
  readonly returns: TableInfo | undefined;
  readonly plan: InheritancePlan;
  readonly info: FunctionInfo | null;
  readonly inconsistencies: readonly Inconsistency[];
}

/** Returns the root that a function is exposed as, which decides its names; performs no checks. */
export function exposureOf(metadata: FunctionMetadata, found: CatalogFunction | undefined): 'query' | 'mutation' {
  return metadata.configuration.exposedAs ?? (found?.volatility === 'volatile' ? 'mutation' : 'query');
}

/** @param tables tracked tables with their permissions, including inherited ones */
export function resolveFunction(
  source: StageSource,
  metadata: FunctionMetadata,
  overloads: readonly CatalogFunction[] | undefined,
  tables: ReadonlyMap<string, TableInfo>,
  plan: InheritancePlan,
  previous: FunctionResult | undefined,
): FunctionResult {
  const returnsName = overloads?.[0]?.returnsTable ?? null;
  const returns = returnsName === null ? undefined : tables.get(nameKey(returnsName));
  const same = previous?.metadata === metadata && previous.overloads === overloads && previous.returns === returns;
  if (same && previous.plan === plan) return previous;
  try {
    rejectUnknownKeys(metadata, metadata.configuration);
    const info = resolve(source, metadata, overloads ?? [], returns);
    const { permissions, inconsistencies } = permissionsOf(source, metadata, returns as TableInfo, plan);
    return { metadata, overloads, returns, plan, info: { ...info, permissions }, inconsistencies };
  } catch (error) {
    if (!(error instanceof Defect)) throw error;
    const record = fromDefect(
      describeFunction(source, metadata.function),
      `in function "${printTable(source, metadata.function)}": `,
      error,
    );
    return { metadata, overloads, returns, plan, info: null, inconsistencies: [record] };
  }
}

function resolve(
  source: StageSource,
  metadata: FunctionMetadata,
  overloads: readonly CatalogFunction[],
  returns: TableInfo | undefined,
): FunctionInfo {
  const found = singleFunction(source, metadata.function, overloads);
  const { configuration } = metadata;
  const reasons: string[] = [];
  if (!isSchemaName(tableBaseName(found.name, configuration, source.backend.defaultSchema)))
    reasons.push('function name is not a legal GraphQL identifier');
  if (found.variadic) reasons.push('function with "VARIADIC" parameters are not supported');
  if (found.returnsTable === null) {
    reasons.push(
      found.returns.kind === 'composite' ? 'the function does not return a table' : 'the function does not return a "COMPOSITE" type',
    );
  }
  const exposedAs = exposureOf(metadata, found);
  if (exposedAs === 'mutation' && found.volatility !== 'volatile') {
    reasons.push(
      'the function was requested to be exposed as a mutation, but is not marked VOLATILE. Maybe the function was given the wrong volatility when it was defined?',
    );
  }
  const sessionArgument = sessionArgumentOf(source, configuration.sessionArgument, found, reasons);
  const illegal = found.arguments.map(({ name }) => name).filter((name) => name !== '' && !isGraphqlName(name));
  if (illegal.length > 0) reasons.push(`the function arguments ${illegal.join(', ')} are not in compliance with GraphQL spec`);
  if (reasons.length > 0) throw defectBecause(`the function "${printTable(source, metadata.function)}" cannot be tracked`, reasons);
  for (const [i, argument] of found.arguments.entries()) if (i !== sessionArgument) requireScalar(source, argument.type);
  if (found.returnsTable !== null && returns === undefined)
    throw new Defect(`table "${printTable(source, found.returnsTable)}" is not tracked`);
  return {
    source: source.name,
    name: metadata.function,
    catalog: found,
    customName: configuration.customName,
    customRootFields: configuration.customRootFields,
    comment: metadata.comment,
    exposedAs,
    sessionArgument,
    returns: (returns as TableInfo).name,
    permissions: new Set(),
  };
}

function sessionArgumentOf(source: StageSource, name: string | undefined, found: CatalogFunction, reasons: string[]): number | null {
  if (name === undefined) return null;
  const index = found.arguments.findIndex((argument) => argument.name === name);
  const argument = found.arguments[index];
  if (argument === undefined) reasons.push(`given session argument "${name}" not the input argument of the function`);
  else if (!isJson(source, argument.type)) reasons.push(`given session argument "${name}" is not of type json`);
  return index;
}

/**
 * A permission requires that its role may select from the returned table. An inherited role has the permission if any of its parents does.
 */
function permissionsOf(
  source: StageSource,
  metadata: FunctionMetadata,
  returns: TableInfo,
  plan: InheritancePlan,
): { permissions: ReadonlySet<string>; inconsistencies: readonly Inconsistency[] } {
  const permissions = new Set<string>();
  const inconsistencies: Inconsistency[] = [];
  for (const role of metadata.permissions) {
    if (returns.permissions.get(role)?.select !== undefined) permissions.add(role);
    else {
      const reason = `no select permission defined on table "${printTable(source, returns.name)}" for role "${role}"`;
      inconsistencies.push(inconsistent(describeFunctionPermission(source, metadata.function, role), reason));
    }
  }
  for (const { roleName, roleSet } of plan.roles) {
    if (roleSet.some((parent) => permissions.has(parent))) permissions.add(roleName);
  }
  return { permissions, inconsistencies };
}

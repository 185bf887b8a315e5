/** Actions: checks that their types exist and that their handler can be called. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { Action, ActionDefinition } from '../../metadata/action.ts';
import { addressProblem } from '../../metadata/called-address.ts';
import {
  type EnvironmentVariables,
  fillTemplate,
  configuredHeaderValue,
  headerProblem,
  type MissingVariable,
  type MissingVariables,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import { type GraphqlType, namedTypeIn } from '../../metadata/graphql-type.ts';
import type { ActionInfo, CustomTypesInfo } from '../action-info.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import type { Inconsistency } from '../schema-cache.ts';
import { isReservedType } from './custom-type-checks.ts';
import { isTypeFor } from './custom-types.ts';
import type { ScalarFinder } from './database-scalar.ts';
import { describeAction } from './describe.ts';
import type { InheritancePlan } from './inherited-role.ts';
import { checkTransforms } from './transforms.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

export interface ActionStage {
  readonly metadata: Action;
  readonly types: CustomTypesInfo;
  readonly plan: InheritancePlan;
  /** `null` if it is not part of the schema. */
  readonly info: ActionInfo | null;
  readonly inconsistencies: readonly Inconsistency[];
}

export interface ActionScope {
  readonly types: CustomTypesInfo;
  readonly scalarOf: ScalarFinder;
  /** Object types with relationships, whether these can be resolved or not. */
  readonly related: ReadonlySet<string>;
  readonly environment: EnvironmentVariables;
  readonly plan: InheritancePlan;
}

/** Resolves an action and the roles that may call it, or records its defect. @param before its result is reused if still valid */
export function resolveAction(metadata: Action, scope: ActionScope, before: ActionStage | undefined): ActionStage {
  const { types, plan } = scope;
  const base = { metadata, types, plan };
  try {
    rejectUnknownKeys(metadata);
    const { name, definition } = metadata;
    check(name, definition, scope);
    const permissions = rolesOf(metadata, plan);
    const known = before?.info;
    const same = known != null && before?.metadata.definition === definition && before.metadata.comment === metadata.comment;
    if (same && sameRoles(known.permissions, permissions)) return { ...base, info: known, inconsistencies: [] };
    const { arguments: args, outputType: output, kind } = definition;
    const info: ActionInfo = { name, comment: metadata.comment, kind, definition, arguments: args, output, permissions };
    return { ...base, info, inconsistencies: [] };
  } catch (thrown) {
    if (!(thrown instanceof Defect)) throw thrown;
    return { ...base, info: null, inconsistencies: [fromDefect(describeAction(metadata), `in action "${metadata.name}"; `, thrown)] };
  }
}

function sameRoles(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((role) => b.has(role));
}

/** @throws Defect */
function check(name: string, definition: ActionDefinition, { types, scalarOf, related, environment }: ActionScope): void {
  if (name.startsWith('__') || (definition.kind === 'asynchronous' && isTakenType(name, scalarOf))) {
    throw new Defect(`the name "${name}" is reserved`);
  }
  const seen = new Set<string>();
  for (const { name: argument, type } of definition.arguments) {
    if (argument.startsWith('__')) throw new Defect(`the argument name "${argument}" is reserved`);
    if (seen.has(argument)) throw new Defect(`the argument "${argument}" is declared more than once`);
    seen.add(argument);
    const inner = namedTypeIn(type);
    if (!isTypeFor('input', inner, types, scalarOf)) {
      throw new Defect(`the type: "${inner}" is not defined in custom types or it is not a scalar/enum/input_object`);
    }
  }
  const output = namedTypeIn(definition.outputType);
  if (!isTypeFor('output', output, types, scalarOf)) {
    throw new Defect(`the type: "${output}" is not an object or scalar type defined in custom types`);
  }
  if (definition.kind === 'asynchronous') checkAsynchronous(output, types, related);
  const missing = [...unset(definition, environment)];
  if (missing.length > 0) throw new Defect(variablesNotSet(missing));
  checkHandler(definition, environment);
  checkHeaders(definition, environment);
  checkTransforms(definition);
}

/** Scalars of the fields of asynchronous results. */
const RESULT_SCALARS: ReadonlySet<string> = new Set(['uuid', 'timestamptz', 'json']);

/** Returns true if no type of a result can have the name. */
function isTakenType(name: string, scalarOf: ScalarFinder): boolean {
  return RESULT_SCALARS.has(name) || isReservedType(name) || scalarOf(name) !== null;
}

/** Asynchronous answers are read row by row: they can have relationships or nested objects, but not both. @throws Defect */
function checkAsynchronous(output: string, types: CustomTypesInfo, related: ReadonlySet<string>): void {
  const type = types.get(output);
  if (type?.kind !== 'object') return;
  const objects = [...type.fields.values()].filter((field) => types.get(namedTypeIn(field.type))?.kind === 'object');
  if (objects.length === 0) return;
  const reached = new Set([output]);
  for (const each of reached) {
    const inner = types.get(each);
    if (inner?.kind === 'object') for (const field of inner.fields.values()) reached.add(namedTypeIn(field.type));
  }
  if (![...reached].some((each) => related.has(each))) return;
  throw new Defect(`Async action relations cannot be used with object fields: ${objects.map(({ name }) => `"${name}"`).join(', ')}`);
}

/** A URL that a transform produces is checked when it is called. @throws Defect */
function checkHandler({ handler, requestTransform }: ActionDefinition, environment: EnvironmentVariables): void {
  const filled = fillTemplate(handler, environment);
  if (requestTransform?.url !== undefined || !('text' in filled)) return;
  const problem = addressProblem('handler', { kind: 'template', text: handler }, filled.text);
  if (problem !== null) throw new Defect(problem);
}

/** Expects that all variables are set. @throws Defect */
function checkHeaders({ headers }: ActionDefinition, environment: EnvironmentVariables): void {
  const missing: MissingVariables = (variables) => new Defect(variablesNotSet(variables));
  for (const header of headers) {
    const problem = headerProblem(header.name, configuredHeaderValue(header, environment, missing));
    if (problem !== null) throw new Defect(problem);
  }
}

/** Yields the environment variables that an action needs and that have no value, some perhaps several times. */
export function* unset({ handler, headers, signature }: ActionDefinition, environment: EnvironmentVariables): Iterable<MissingVariable> {
  const named = (name: string): readonly MissingVariable[] => (environment[name] === undefined ? [{ name, isPermitted: true }] : []);
  const filled = fillTemplate(handler, environment);
  if ('missing' in filled) yield* filled.missing;
  if (signature !== undefined) yield* named(signature.secretFromEnv);
  for (const { value, valueFromEnv } of headers) {
    if (valueFromEnv !== undefined) yield* named(valueFromEnv);
    const header = fillTemplate(value ?? '', environment);
    if ('missing' in header) yield* header.missing;
  }
}

/** An inherited role may call the action if any of its parents may. */
function rolesOf({ permissions }: Action, { roles: inherited }: InheritancePlan): ReadonlySet<string> {
  const roles = new Set(permissions.keys());
  roles.delete(ADMIN_ROLE);
  for (const { roleName, roleSet } of inherited) if (roleSet.some((parent) => roles.has(parent))) roles.add(roleName);
  return roles;
}

/** Database scalars that an action refers to directly. */
export function scalarsNamed({ arguments: args, outputType }: ActionDefinition): readonly string[] {
  const types: readonly GraphqlType[] = [outputType, ...args.map(({ type }) => type)];
  return types.map(namedTypeIn);
}

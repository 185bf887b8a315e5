/** Variables of an operation: declarations, and the values of a request after checks and defaults. */
import { Kind, type OperationDefinitionNode, type TypeNode } from 'graphql';
import { SvcError, type SvcErrorOptions } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import { nestedDeeperThan } from '../util/json-depth.ts';
import { jsonSizeWithin } from '../util/json-size.ts';
import { literalJson } from './input/literal-json.ts';
import type { Variables } from './constraint.ts';
import type { TypeRef } from './types.ts';

/** A declared type, by names only, so that no type is built for it. */
export type DeclaredType =
  | { readonly kind: 'named'; readonly name: string; readonly nonNull: boolean }
  | { readonly kind: 'list'; readonly item: DeclaredType; readonly nonNull: boolean };

export interface VariableDeclaration {
  readonly name: string;
  readonly type: DeclaredType;
  /** For example `[Int!]!`. */
  readonly typeText: string;
  /** Undefined if there is no default. */
  readonly default: Json | undefined;
}

export interface VariableRules {
  readonly nullInNonNullableVariables: boolean;
  /** If true, nullable variables that were not sent and have no default are null instead of missing. */
  readonly unsentAreNull: boolean;
  /** Maximum levels of lists and objects in a value. */
  readonly maxDepth: number;
  /** Maximum total size of variables that are read more than once, multiplied by the number of reads: each read copies the value. */
  readonly maxRepeatedSize: number;
}

/** @throws SvcError parse-failed if a variable is declared twice */
export function declareVariables(operation: OperationDefinitionNode): ReadonlyMap<string, VariableDeclaration> {
  const declared = new Map<string, VariableDeclaration>();
  for (const node of operation.variableDefinitions ?? []) {
    const name = node.variable.name.value;
    if (declared.has(name)) throw new SvcError('parse-failed', `multiple definitions for variable "${name}"`);
    const type = declaredType(node.type, false);
    const fallback = node.defaultValue === undefined ? undefined : literalJson(node.defaultValue);
    declared.set(name, { name, type, typeText: printDeclared(type), default: fallback });
  }
  return declared;
}

function declaredType(node: TypeNode, nonNull: boolean): DeclaredType {
  switch (node.kind) {
    case Kind.NON_NULL_TYPE:
      return declaredType(node.type, true);
    case Kind.LIST_TYPE:
      return { kind: 'list', item: declaredType(node.type, false), nonNull };
    case Kind.NAMED_TYPE:
      return { kind: 'named', name: node.name.value, nonNull };
  }
}

function printDeclared(type: DeclaredType): string {
  const inner = type.kind === 'list' ? `[${printDeclared(type.item)}]` : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/**
 * Returns true if a variable may be used at a position (GraphQL specification, "All Variable Usages Are Allowed").
 * @param positionHasDefault true if the argument or input field has a non-null default
 */
export function isUsageAllowed(declaration: VariableDeclaration, position: TypeRef, positionHasDefault: boolean): boolean {
  const { type } = declaration;
  if (position.nonNull && !type.nonNull) {
    const hasDefault = declaration.default !== undefined && declaration.default !== null;
    return (hasDefault || positionHasDefault) && fits(type, position, true);
  }
  return fits(type, position, false);
}

function fits(declared: DeclaredType, position: TypeRef, ignoreNull: boolean): boolean {
  if (!ignoreNull && position.nonNull && !declared.nonNull) return false;
  if (position.kind === 'list') return declared.kind === 'list' && fits(declared.item, position.item, false);
  return declared.kind === 'named' && declared.name === position.name;
}

/** An error about the value of a variable. */
export class VariableError extends SvcError {
  /** Name of a variable that the operation declares. */
  readonly variable: string;

  constructor(message: string, variable: string, options: SvcErrorOptions = {}) {
    super('validation-failed', message, options);
    this.variable = variable;
  }

  protected override copy(message: string, options: SvcErrorOptions): VariableError {
    return new VariableError(message, this.variable, options);
  }
}

/**
 * Returns the function that turns the variables of a request into those of the operation.
 * @param uses how often the operation reads a variable; unread variables are missing
 */
export function variableBinder(
  declared: ReadonlyMap<string, VariableDeclaration>,
  uses: ReadonlyMap<string, number>,
  rules: VariableRules,
): (sent: Readonly<Record<string, Json>>, depth?: number) => Variables {
  const declarations = [...declared.values()].map((d) => ({
    name: d.name,
    nonNull: d.type.nonNull,
    nullAllowed: !d.type.nonNull || rules.nullInNonNullableVariables,
    typeText: d.typeText,
    default: d.default,
    uses: uses.get(d.name) ?? 0,
  }));
  const { unsentAreNull, maxDepth, maxRepeatedSize } = rules;
  const repeated = declarations.filter((declaration) => declaration.uses > 1);
  return (sent, depth = Number.POSITIVE_INFINITY) => {
    // Without a prototype: a variable may be named `constructor`.
    const variables = { __proto__: null } as unknown as Record<string, Json>;
    let usedCount = 0;
    for (const declaration of declarations) {
      const { name } = declaration;
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
      if (value === undefined) {
        if (declaration.default !== undefined) variables[name] = declaration.default;
        else if (declaration.nonNull) throw new VariableError(`expecting a value for non-nullable variable: "${name}"`, name);
        else if (unsentAreNull) variables[name] = null;
        continue;
      }
      if (value === null) {
        if (!declaration.nullAllowed) throw new VariableError(`null value found for non-nullable type: "${declaration.typeText}"`, name);
      } else if (depth > maxDepth && typeof value === 'object' && nestedDeeperThan(value, maxDepth)) {
        throw new VariableError(`the value of variable "${name}" is nested deeper than ${maxDepth} levels`, name);
      }
      if (declaration.uses > 0) usedCount += 1;
      variables[name] = value;
    }
    const names = Object.keys(sent);
    if (names.length !== usedCount) rejectUnexpected(names, uses, declared);
    if (repeated.length > 0) checkRepeated(repeated, variables, maxRepeatedSize);
    return variables;
  };
}

function checkRepeated(repeated: readonly { readonly name: string; readonly uses: number }[], variables: Variables, max: number): void {
  let left = max;
  for (const { name, uses } of repeated) {
    const value = variables[name];
    if (value === undefined || value === null) continue;
    left -= uses * (typeof value === 'string' ? value.length : jsonSizeWithin(value, left / uses));
    if (left < 0) {
      throw new SvcError('validation-failed', `the variables, counted once per use, are larger than ${max} bytes`);
    }
  }
}

/** Maximum names in one message. */
const MAX_NAMES = 20;

function rejectUnexpected(
  sent: readonly string[],
  used: ReadonlyMap<string, number>,
  declared: ReadonlyMap<string, VariableDeclaration>,
): void {
  const unexpected = sent.filter((name) => !used.has(name) || !declared.has(name));
  if (unexpected.length === 0) return;
  const names =
    unexpected.length <= MAX_NAMES ? unexpected : [...unexpected.slice(0, MAX_NAMES), `and ${unexpected.length - MAX_NAMES} more`];
  throw new SvcError('validation-failed', `unexpected variables in variableValues: ${names.join(', ')}`);
}

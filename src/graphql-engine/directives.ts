/** The directives of every role schema: definitions, permitted locations, and the evaluation of `@skip`, `@include` and `@cached`. */
import { type DirectiveNode, Kind } from 'graphql';
import { SvcError } from '../errors/svc-error.ts';
import { type Json, printJson } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { BOOLEAN_SCALAR, INT_SCALAR, STRING_SCALAR } from './input/built-in-scalars.ts';
import type { InputContext } from './input/context.ts';
import { missingRequired } from './input/input-object.ts';
import { inputAt } from './input.ts';
import { suggest } from './suggestions.ts';
import { type InputValue, type InputField, typeRef } from './types.ts';
import type { CacheDirective } from './cache-directive.ts';

export type DirectiveLocation =
  | 'QUERY'
  | 'MUTATION'
  | 'SUBSCRIPTION'
  | 'FIELD'
  | 'FRAGMENT_SPREAD'
  | 'INLINE_FRAGMENT'
  | 'FRAGMENT_DEFINITION'
  | 'VARIABLE_DEFINITION'
  | 'FIELD_DEFINITION'
  | 'ARGUMENT_DEFINITION'
  | 'INPUT_FIELD_DEFINITION'
  | 'ENUM_VALUE'
  | 'SCALAR';

export interface DirectiveDefinition {
  readonly name: string;
  readonly description: string;
  readonly locations: readonly DirectiveLocation[];
  readonly args: ReadonlyMap<string, InputField>;
}

function directive(
  name: string,
  description: string,
  locations: readonly DirectiveLocation[],
  args: readonly InputField[],
): [string, DirectiveDefinition] {
  return [name, { name, description, locations, args: new Map(args.map((arg) => [arg.name, arg])) }];
}

/** Allows a subscription to have several root fields. */
export const MULTIPLE_ROOTS = '_multiple_top_level_fields';

const SELECTIONS: readonly DirectiveLocation[] = ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'];

export const DIRECTIVES: ReadonlyMap<string, DirectiveDefinition> = new Map([
  directive('include', 'whether this query should be included', SELECTIONS, [
    { name: 'if', description: null, type: typeRef('Boolean', () => BOOLEAN_SCALAR, true) },
  ]),
  directive('skip', 'whether this query should be skipped', SELECTIONS, [
    { name: 'if', description: null, type: typeRef('Boolean', () => BOOLEAN_SCALAR, true) },
  ]),
  directive(
    'cached',
    'whether this query should be cached',
    ['QUERY'],
    [
      { name: 'ttl', description: 'seconds that an answer may be reused', type: typeRef('Int', () => INT_SCALAR, true), default: 60 },
      { name: 'refresh', description: 'replace the cached answer', type: typeRef('Boolean', () => BOOLEAN_SCALAR, true), default: false },
    ],
  ),
  directive(
    'deprecated',
    'marks an element of a schema as no longer supported',
    ['FIELD_DEFINITION', 'ARGUMENT_DEFINITION', 'INPUT_FIELD_DEFINITION', 'ENUM_VALUE'],
    [{ name: 'reason', description: null, type: typeRef('String', () => STRING_SCALAR), default: 'No longer supported' }],
  ),
  directive(
    'specifiedBy',
    'gives the address of the specification of a scalar',
    ['SCALAR'],
    [{ name: 'url', description: null, type: typeRef('String', () => STRING_SCALAR, true) }],
  ),
]);

/** Accepted, but not shown in the schema. */
const UNLISTED: ReadonlyMap<string, DirectiveDefinition> = new Map([
  directive(MULTIPLE_ROOTS, 'lets a subscription have several root fields', ['SUBSCRIPTION'], []),
]);

function definitionOf(name: string): DirectiveDefinition | undefined {
  return DIRECTIVES.get(name) ?? UNLISTED.get(name);
}

const PLACES: Readonly<Record<DirectiveLocation, string>> = {
  QUERY: 'a query',
  MUTATION: 'a mutation',
  SUBSCRIPTION: 'a subscription',
  FIELD: 'a field',
  FRAGMENT_SPREAD: 'a fragment spread',
  INLINE_FRAGMENT: 'an inline fragment',
  FRAGMENT_DEFINITION: 'a fragment definition',
  VARIABLE_DEFINITION: 'a variable definition',
  FIELD_DEFINITION: 'a field definition',
  ARGUMENT_DEFINITION: 'an argument definition',
  INPUT_FIELD_DEFINITION: 'an input field definition',
  ENUM_VALUE: 'an enum value',
  SCALAR: 'a scalar',
};

/**
 * Checks the rules that need no values: directives exist, are at a permitted location, are not repeated, and have existing arguments.
 * @throws SvcError
 */
export function checkDirectives(nodes: readonly DirectiveNode[] | undefined, location: DirectiveLocation, path: Path): void {
  if (nodes === undefined || nodes.length === 0) return;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const node of nodes) {
    const name = node.name.value;
    const definition = definitionOf(name);
    if (definition === undefined) {
      throw new SvcError('validation-failed', `directive '${name}' is not defined in the schema`, {
        path,
        ...suggest(name, () => DIRECTIVES.keys()),
      });
    }
    if (!definition.locations.includes(location)) {
      throw new SvcError('validation-failed', `directive '${name}' is not allowed on ${PLACES[location]}`, { path });
    }
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
    for (const argument of node.arguments ?? []) {
      if (!definition.args.has(argument.name.value)) {
        throw new SvcError('validation-failed', `'${name}' has no argument named '${argument.name.value}'`, {
          path,
          ...suggest(argument.name.value, () => definition.args.keys()),
        });
      }
    }
    for (const [argument, field] of definition.args) {
      const isPresent = node.arguments?.some((a) => a.name.value === argument) === true;
      if (!isPresent && field.type.nonNull && field.default === undefined) throw missingRequired(argument, path);
    }
  }
  if (repeated.size > 0) {
    const names = [...repeated].map((name) => `'${name}'`).join(', ');
    throw new SvcError('validation-failed', `the following directives are used more than once: [${names}]`, { path });
  }
}

/** Returns true if `@skip` or `@include` excludes a selection. The variables that they read become constraints. */
export function isExcluded(context: InputContext, nodes: readonly DirectiveNode[] | undefined, path: Path): boolean {
  if (nodes === undefined || nodes.length === 0) return false;
  let excluded = false;
  for (const node of nodes) {
    const condition = conditionOf(context, node, path);
    if (node.name.value === 'skip' ? condition === true : condition === false) excluded = true;
  }
  return excluded;
}

function conditionOf(context: InputContext, node: DirectiveNode, path: Path): Json | undefined {
  const conditionNode = node.arguments?.[0]?.value;
  return conditionNode?.kind === Kind.BOOLEAN ? conditionNode.value : argumentOf(context, node, 'if', path)?.json();
}

const DEFAULT_TTL = 60;

/** Returns the values of `@cached`, or undefined. The variables that it reads become constraints. @throws SvcError */
export function cacheDirective(context: InputContext, nodes: readonly DirectiveNode[] | undefined, path: Path): CacheDirective | undefined {
  let cached: CacheDirective | undefined;
  for (const node of nodes ?? []) {
    const values = new Map((node.arguments ?? []).map(({ name: { value } }) => [value, argumentOf(context, node, value, path)?.json()]));
    if (node.name.value !== 'cached') continue;
    const ttl = values.get('ttl');
    cached = { ttl: ttl === undefined ? DEFAULT_TTL : Number(printJson(ttl)), refresh: values.get('refresh') === true };
  }
  return cached;
}

function argumentOf(context: InputContext, node: DirectiveNode, name: string, path: Path): InputValue | undefined {
  const field = definitionOf(node.name.value)?.args.get(name);
  const argument = node.arguments?.find((each) => each.name.value === name);
  return field === undefined || argument === undefined ? undefined : inputAt(context, argument.value, field, at(path, name));
}

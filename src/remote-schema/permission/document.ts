/** The SDL of a role: its type definitions by name, and the names of its root types. */
import { type DefinitionNode, GraphQLError, Kind, type OperationTypeNode, parse, type TypeDefinitionNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { enumerateQuoted } from '../../util/enumerate.ts';
import { along, ROOT } from '../../util/path.ts';
import { refuseDirectives } from './directives.ts';
import type { Reasons } from './reasons.ts';

/** Far above the schemas of the largest public APIs. */
const MAX_TOKENS = 1_000_000;

export interface RoleDocument {
  readonly types: ReadonlyMap<string, TypeDefinitionNode>;
  /** According to the `schema` block; without one `Query`, `Mutation`, `Subscription`. */
  readonly roots: ReadonlyMap<OperationTypeNode, string>;
  readonly hasSchemaBlock: boolean;
}

const DEFAULT_ROOTS: ReadonlyMap<string, string> = new Map([
  ['query', 'Query'],
  ['mutation', 'Mutation'],
  ['subscription', 'Subscription'],
]);

/** @throws SvcError parse-failed */
export function readRoleDocument(sdl: string, reasons: Reasons): RoleDocument {
  const types = new Map<string, TypeDefinitionNode>();
  const twice = new Set<string>();
  let roots: Map<OperationTypeNode, string> | null = null;
  for (const definition of definitionsOf(sdl)) {
    if (definition.kind === Kind.SCHEMA_DEFINITION) {
      if (roots !== null) {
        reasons.add('multiple schema definitions found');
        continue;
      }
      refuseDirectives(definition, { label: 'Schema', name: 'schema' }, reasons);
      roots = new Map(definition.operationTypes.map(({ operation, type }) => [operation, type.name.value]));
    } else if (isTypeDefinition(definition)) {
      const name = definition.name.value;
      if (types.has(name)) twice.add(name);
      else types.set(name, definition);
    } else throw unreadable(`expected the definition of a type or of the schema, but found ${kindOf(definition)}`);
  }
  if (twice.size > 0) reasons.add(`duplicate type names found: ${enumerateQuoted(twice)}`);
  return { types, roots: roots ?? (DEFAULT_ROOTS as ReadonlyMap<OperationTypeNode, string>), hasSchemaBlock: roots !== null };
}

function unreadable(what: string): SvcError {
  return new SvcError('parse-failed', what, { path: along(ROOT, 'args', 'definition', 'schema') });
}

function definitionsOf(sdl: string): readonly DefinitionNode[] {
  try {
    return parse(sdl, { noLocation: true, maxTokens: MAX_TOKENS }).definitions;
  } catch (error) {
    // Any other error is a stack overflow caused by nested brackets.
    if (!(error instanceof GraphQLError)) throw unreadable('the schema is nested too deep');
    const [place] = error.locations ?? [];
    throw unreadable(place === undefined ? error.message : `${error.message} (line ${place.line}, column ${place.column})`);
  }
}

const TYPE_DEFINITIONS: ReadonlySet<DefinitionNode['kind']> = new Set([
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INTERFACE_TYPE_DEFINITION,
  Kind.UNION_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
]);

function isTypeDefinition(definition: DefinitionNode): definition is TypeDefinitionNode {
  return TYPE_DEFINITIONS.has(definition.kind);
}

function kindOf(definition: DefinitionNode): string {
  if (definition.kind === Kind.OPERATION_DEFINITION || definition.kind === Kind.FRAGMENT_DEFINITION) return 'an executable definition';
  return definition.kind === Kind.DIRECTIVE_DEFINITION ? 'the definition of a directive' : 'an extension';
}

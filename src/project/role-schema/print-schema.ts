import {
  astFromValue,
  buildClientSchema,
  type ConstValueNode,
  type DirectiveDefinitionNode,
  type GraphQLDirective,
  type GraphQLSchema,
  type IntrospectionQuery,
  introspectionFromSchema,
  isIntrospectionType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  Kind,
  parseType,
  print,
  printType,
} from 'graphql';
import type { JsonObject } from '../../util/json.ts';
import { byCodeUnits } from '../../graphql-engine/schema-cut/type-parts.ts';

/** Builds the schema of an introspection that is known to be valid, or that is only used to validate documents. */
export function clientSchema(introspection: IntrospectionQuery): GraphQLSchema {
  return buildClientSchema(introspection, { assumeValid: true });
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => byCodeUnits(a.name, b.name);

/** Prints a schema as SDL, with its types sorted by name. Their members are in the order of the service, which sorts them. */
export function sdlOf(schema: GraphQLSchema): string {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const;
  const head = roots.flatMap(([operation, type]) => (type == null ? [] : [`  ${operation}: ${type.name}`]));
  const directives = schema.getDirectives().filter((directive: GraphQLDirective) => !isSpecifiedDirective(directive));
  const types = Object.values(schema.getTypeMap()).filter((type) => !isSpecifiedScalarType(type) && !isIntrospectionType(type));
  const parts = [
    `schema {\n${head.join('\n')}\n}`,
    ...directives.toSorted(byName).map((directive) => print(directiveNode(directive))),
    ...types.toSorted(byName).map(printType),
  ];
  return `${parts.join('\n\n')}\n`;
}

function directiveNode({ name, description, args, isRepeatable, locations }: GraphQLDirective): DirectiveDefinitionNode {
  const nameNode = (value: string) => ({ kind: Kind.NAME as const, value });
  const text = (value: string | null | undefined) =>
    value == null ? {} : { description: { kind: Kind.STRING as const, value, block: true } };
  return {
    kind: Kind.DIRECTIVE_DEFINITION,
    ...text(description),
    name: nameNode(name),
    arguments: args.map((argument) => {
      const byDefault = astFromValue(argument.defaultValue, argument.type);
      return {
        kind: Kind.INPUT_VALUE_DEFINITION,
        ...text(argument.description),
        name: nameNode(argument.name),
        type: parseType(String(argument.type)),
        ...(byDefault == null ? {} : { defaultValue: byDefault as ConstValueNode }),
      };
    }),
    repeatable: isRepeatable,
    locations: locations.map(nameNode),
  };
}

/** Returns the answer to an introspection query, as generators read it. */
export function introspectionOf(schema: GraphQLSchema): JsonObject {
  const options = { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true };
  return introspectionFromSchema(lexicographicSortSchema(schema), options) as unknown as JsonObject;
}

/** Collects what documents use themselves: fields, arguments, input fields, enum values, types of fragments and variables. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type IntrospectionInputValue,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type TypeNode,
  type ValueNode,
  visit,
} from 'graphql';
import type { Cooperative } from '../../util/cooperative.ts';
import type { SchemaHead, SchemaTypes } from './schema-types.ts';
import { hasFields, hasValue, inputFieldOf, type NamedRef, namedRef } from './type-parts.ts';
import type { Usage } from './usage.ts';

/**
 * Skips what the schema does not have: the validation reports it.
 * @returns the types of variables
 */
export function* useDocuments(documents: readonly DocumentNode[], head: SchemaHead, usage: Usage): Cooperative<ReadonlySet<string>> {
  const variableTypes = new Set<string>();
  const walk = new DocumentWalk(head, usage);
  for (const { definitions } of documents)
    for (const definition of definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) {
        walk.directives(definition.directives);
        walk.selection(definition.typeCondition.name.value, definition.selectionSet);
      } else if (definition.kind === Kind.OPERATION_DEFINITION) {
        walk.directives(definition.directives);
        for (const { type, defaultValue, directives } of definition.variableDefinitions ?? []) {
          const name = namedNode(type);
          variableTypes.add(name);
          const found = usage.find(name);
          if (found !== undefined) usage.keep(name);
          if (found !== undefined && defaultValue !== undefined) useValue({ kind: found.kind, name }, defaultValue, usage);
          walk.directives(directives);
        }
        const root = rootOf(definition, head);
        if (root !== undefined) walk.selection(root, definition.selectionSet);
      }
      yield;
    }
  return variableTypes;
}

function rootOf({ operation }: OperationDefinitionNode, head: SchemaHead): string | undefined {
  if (operation === 'query') return head.queryType.name;
  return (operation === 'mutation' ? head.mutationType : head.subscriptionType)?.name;
}

function namedNode(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedNode(type.type);
}

/** Returns the names of types in the documents: of variables, and of what fragments apply to. */
export function typeNamesIn(documents: readonly DocumentNode[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const document of documents) visit(document, { NamedType: ({ name }) => void names.add(name.value) });
  return names;
}

/** Builds the root fields that operations select: the types of most variables are those of their arguments, and are then found at once. */
export function* readRootFields(documents: readonly DocumentNode[], head: SchemaHead, schema: SchemaTypes): Cooperative<void> {
  for (const { definitions } of documents)
    for (const definition of definitions) {
      const root = definition.kind === Kind.OPERATION_DEFINITION ? rootOf(definition, head) : undefined;
      if (root === undefined || definition.kind !== Kind.OPERATION_DEFINITION) continue;
      for (const selection of definition.selectionSet.selections)
        if (selection.kind === Kind.FIELD) schema.field(root, selection.name.value);
      yield;
    }
}

/** Collects what a literal uses at a position of a type. */
export function useValue(ref: NamedRef, value: ValueNode, usage: Usage): void {
  usage.keep(ref.name);
  if (value.kind === Kind.LIST) for (const item of value.values) useValue(ref, item, usage);
  if (value.kind !== Kind.OBJECT && value.kind !== Kind.ENUM) return;
  const type = usage.find(ref.name);
  if (type?.kind === 'ENUM' && value.kind === Kind.ENUM && hasValue(type, value.value)) usage.keepValue(ref.name, value.value);
  if (type?.kind !== 'INPUT_OBJECT' || value.kind !== Kind.OBJECT) return;
  for (const { name, value: inner } of value.fields) {
    const field = inputFieldOf(type, name.value);
    if (field === undefined) continue;
    usage.keepField(ref.name, field.name);
    useValue(namedRef(field.type), inner, usage);
  }
}

class DocumentWalk {
  readonly #usage: Usage;
  readonly #directives: ReadonlyMap<string, readonly IntrospectionInputValue[]>;

  constructor(head: SchemaHead, usage: Usage) {
    this.#usage = usage;
    this.#directives = new Map(head.directives.map(({ name, args }) => [name, args]));
  }

  selection(typeName: string, { selections }: SelectionSetNode): void {
    const type = this.#usage.find(typeName);
    if (type === undefined) return;
    this.#usage.keep(typeName);
    for (const selection of selections) {
      this.directives(selection.directives);
      if (selection.kind === Kind.INLINE_FRAGMENT) this.selection(selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
      // Fragments are visited where they are defined; fields such as __typename belong to every type.
      if (selection.kind !== Kind.FIELD || selection.name.value.startsWith('__') || !hasFields(type)) continue;
      const field = this.#usage.field(typeName, selection.name.value);
      if (field === undefined) continue;
      this.#usage.keepField(typeName, field.name);
      for (const name of this.values(field.args, selection.arguments)) this.#usage.keepArgument(typeName, field.name, name);
      const target = namedRef(field.type);
      this.#usage.keep(target.name);
      if (selection.selectionSet !== undefined) this.selection(target.name, selection.selectionSet);
    }
  }

  directives(directives: readonly DirectiveNode[] = []): void {
    for (const { name, arguments: given } of directives) {
      const args = this.#directives.get(name.value);
      if (args === undefined) continue;
      this.#usage.directives.add(name.value);
      this.values(args, given);
    }
  }

  /** @returns the names of the arguments that exist */
  values(args: readonly IntrospectionInputValue[], given: readonly ArgumentNode[] = []): readonly string[] {
    return given.flatMap(({ name, value }) => {
      const argument = args.find((each) => each.name === name.value);
      if (argument === undefined) return [];
      useValue(namedRef(argument.type), value, this.#usage);
      return [argument.name];
    });
  }
}

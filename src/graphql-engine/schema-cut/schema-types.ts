/** The types of a schema that is cut, as the data of an introspection answer. */
import type { IntrospectionDirective, IntrospectionField, IntrospectionQuery, IntrospectionSchema, IntrospectionType } from 'graphql';
import { hasFields, outputFieldOf } from './type-parts.ts';

/** Names of the root types, and the directives. */
export type SchemaHead = Pick<IntrospectionSchema, 'queryType' | 'mutationType' | 'subscriptionType'> & {
  readonly directives: readonly IntrospectionDirective[];
};

export interface SchemaTypes {
  readonly head: SchemaHead;
  /** Returns `undefined` for a type that the schema does not have, which may take a search of the whole schema. */
  find(name: string): Promise<IntrospectionType | undefined>;
  /** Returns a type that has been found, or to which such a type refers. */
  known(name: string): IntrospectionType | undefined;
  /** Returns a field of such a type without the other fields: a root has thousands. */
  field(type: string, name: string): IntrospectionField | undefined;
}

/** Looks types up in the answer to an introspection query for the whole schema. */
export function typesOfIntrospection({ __schema: schema }: IntrospectionQuery): SchemaTypes {
  const types = new Map(schema.types.map((type) => [type.name, type]));
  return {
    head: schema,
    find: async (name) => types.get(name),
    known: (name) => types.get(name),
    field(typeName, name) {
      const type = types.get(typeName);
      return type !== undefined && hasFields(type) ? outputFieldOf(type, name) : undefined;
    },
  };
}

/** Reads the schema of a role, from a service by introspection or in the same process. */
import { type DocumentNode, getIntrospectionQuery, type IntrospectionQuery, type IntrospectionSchema } from 'graphql';
import { type CutSchema, cutSchema } from '../../graphql-engine/schema-cut/cut-schema.ts';
import { typesOfIntrospection } from '../../graphql-engine/schema-cut/schema-types.ts';
import { PLACEHOLDER_FIELD } from '../../schema/fields/placeholder.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { EXIT, failure } from '../failure.ts';

/** Answers an introspection query: `data`. @throws ProjectFailure */
export type Introspect = (query: string) => Promise<JsonObject>;

export interface SchemaReader {
  /** Returns true for the schema of a role without permissions, which an unknown role has, too. */
  isEmpty(): Promise<boolean>;
  whole(): Promise<IntrospectionQuery>;
  /** Returns the part that documents use. */
  cut(documents: readonly DocumentNode[], inputDepth: number): Promise<CutSchema>;
}

const WHOLE = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
});
const ROOTS = '{ __schema { queryType { fields { name } } mutationType { name } subscriptionType { name } } }';

/**
 * Reads the schema from a service.
 * @param cut returns the part of the schema that documents use; `null` to read the whole schema and cut it here
 */
export function schemaReader(introspect: Introspect, cut: SchemaReader['cut'] | null): SchemaReader {
  const whole = async () => introspectionIn(await introspect(WHOLE));
  return {
    async isEmpty() {
      const { queryType, mutationType, subscriptionType } = introspectionIn(await introspect(ROOTS)).__schema;
      const { fields } = queryType as unknown as { readonly fields: readonly { readonly name: string }[] };
      return mutationType == null && subscriptionType == null && fields.every(({ name }) => name === PLACEHOLDER_FIELD);
    },
    whole,
    cut: cut ?? (async (documents, inputDepth) => cutSchema(typesOfIntrospection(await whole()), documents, inputDepth)),
  };
}

/** @throws ProjectFailure if the answer has no schema */
export function introspectionIn(data: JsonObject): IntrospectionQuery {
  const schema = data['__schema'];
  if (schema !== undefined && isJsonObject(schema) && isJsonObject(schema['queryType'] ?? null))
    return { __schema: schema as unknown as IntrospectionSchema };
  throw failure(
    'server',
    'the answer to an introspection query is invalid: check that --endpoint is the address of svc',
    {},
    EXIT.unreachable,
  );
}

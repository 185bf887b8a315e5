/** Reads the schema of a role, from a service by introspection or in the same process. */
import { type DocumentNode, getIntrospectionQuery, type IntrospectionQuery, type IntrospectionSchema } from 'graphql';
import { cutSchema } from '../../graphql-engine/schema-cut/cut-schema.ts';
import { typesOfIntrospection } from '../../graphql-engine/schema-cut/schema-types.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { EXIT, failure } from '../failure.ts';

/** Answers an introspection query: `data`. @throws ProjectFailure */
export type Introspect = (query: string) => Promise<JsonObject>;

export interface SchemaRoots {
  /** Names of the fields of the query root. */
  readonly queryFields: readonly string[];
  /** True if there are mutations or subscriptions. */
  readonly hasOtherRoots: boolean;
}

/** Part of a schema, like `CutSchema`. */
export interface SchemaPart {
  readonly cut: IntrospectionQuery;
  readonly forValidation: () => Promise<IntrospectionQuery> | IntrospectionQuery;
}

export interface SchemaReader {
  roots(): Promise<SchemaRoots>;
  whole(): Promise<IntrospectionQuery>;
  /** Returns the part that documents use. */
  cut(documents: readonly DocumentNode[], inputDepth: number): Promise<SchemaPart>;
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
  const whole = async () => schemaOf(await introspect(WHOLE));
  return {
    async roots() {
      const { __schema: schema } = schemaOf(await introspect(ROOTS));
      const { fields } = schema.queryType as unknown as { readonly fields: readonly { readonly name: string }[] };
      return { queryFields: fields.map(({ name }) => name), hasOtherRoots: schema.mutationType != null || schema.subscriptionType != null };
    },
    whole,
    cut: cut ?? (async (documents, inputDepth) => cutSchema(typesOfIntrospection(await whole()), documents, inputDepth)),
  };
}

/** @throws ProjectFailure if the answer has no schema */
export function schemaOf(data: JsonObject): IntrospectionQuery {
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

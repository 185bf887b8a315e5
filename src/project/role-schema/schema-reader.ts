/** Reads the schema of a role by introspection: the whole of it, or type by type, because a large schema has tens of thousands. */
import {
  getIntrospectionQuery,
  type IntrospectionDirective,
  type IntrospectionInputValue,
  type IntrospectionQuery,
  type IntrospectionSchema,
  type IntrospectionType,
} from 'graphql';
import { isGraphqlName } from '../../model/graphql-name.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import { EXIT, failure } from '../failure.ts';

/** Answers an introspection query: `data`. @throws ProjectFailure */
export type Introspect = (query: string) => Promise<JsonObject>;

/** Names of the root types, and the directives. */
export type SchemaHead = Pick<IntrospectionSchema, 'queryType' | 'mutationType' | 'subscriptionType'> & {
  readonly directives: readonly IntrospectionDirective[];
};

/** Names and types of the fields of an input object. */
export interface InputShape {
  readonly name: string;
  readonly inputFields: readonly Pick<IntrospectionInputValue, 'name' | 'type'>[] | null;
}

export interface SchemaReader {
  head(): Promise<SchemaHead>;
  /** Reads types by name. Names that the schema does not have are not in the result. */
  types(names: Iterable<string>): Promise<readonly IntrospectionType[]>;
  /** Reads the input fields of input objects only. */
  shapes(names: Iterable<string>): Promise<readonly InputShape[]>;
  whole(): Promise<IntrospectionQuery>;
}

const WHOLE = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  inputValueDeprecation: true,
  oneOf: true,
});
/** Wrappers of the deepest type that is read: `[[[T!]!]!]!` has seven. */
const WRAPPERS = 7;
const REF = Array.from({ length: WRAPPERS }).reduce<string>((inner) => `kind name ofType { ${inner} }`, 'kind name');
const INPUT = `fragment Input on __InputValue { name description defaultValue isDeprecated deprecationReason type { ${REF} } }`;
/** Like the query for the whole schema, with references that are shorter. */
const TYPE = `fragment Type on __Type {
  kind name description specifiedByURL isOneOf
  fields(includeDeprecated: true) {
    name description isDeprecated deprecationReason args(includeDeprecated: true) { ...Input } type { ${REF} }
  }
  inputFields(includeDeprecated: true) { ...Input }
  interfaces { kind name }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { kind name }
}
${INPUT}`;
const SHAPE = `fragment Shape on __Type { name inputFields { name type { ${REF} } } }`;
const HEAD = `{
  __schema {
    queryType { kind name } mutationType { kind name } subscriptionType { kind name }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...Input } }
  }
}
${INPUT}`;

/** A service limits the fields of an operation that have a selection, to 500 by default; a type takes 31. */
const TYPES_PER_QUERY = 15;
/** Concurrent queries: a service with several processors answers them in parallel. */
const CONCURRENT = 4;

/** Reads the schema from a service. */
export function schemaReader(introspect: Introspect): SchemaReader {
  return {
    async head() {
      return member<SchemaHead>(await introspect(HEAD), '__schema');
    },
    async whole() {
      const data = await introspect(WHOLE);
      return { __schema: member<IntrospectionSchema>(data, '__schema') };
    },
    types: async (names) => (await inParts(introspect, names, 'Type', TYPE)) as unknown as readonly IntrospectionType[],
    shapes: async (names) => (await inParts(introspect, names, 'Shape', SHAPE)) as unknown as readonly InputShape[],
  };
}

async function inParts(
  introspect: Introspect,
  names: Iterable<string>,
  fragment: string,
  definitions: string,
): Promise<readonly JsonObject[]> {
  const waiting = [...names].filter(isGraphqlName).sort();
  const found: JsonObject[] = [];
  const work = async (): Promise<void> => {
    for (let some = waiting.splice(0, TYPES_PER_QUERY); some.length > 0; some = waiting.splice(0, TYPES_PER_QUERY)) {
      const fields = some.map((name, i) => `t${i}: __type(name: "${name}") { ...${fragment} }`);
      for (const type of Object.values(await introspect(`{ ${fields.join(' ')} }\n${definitions}`)))
        if (isJsonObject(type)) found.push(type);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  return found;
}

function member<T>(data: JsonObject, key: string): T {
  const value = data[key];
  if (value === undefined || !isJsonObject(value))
    throw failure(
      'server',
      'the answer to an introspection query is invalid: check that --endpoint is the address of svc',
      {},
      EXIT.unreachable,
    );
  return value as unknown as T;
}

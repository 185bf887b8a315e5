/** Types of a persona's GraphQL schema, read on demand, ten per request. Nothing reads the whole schema. */
import { isList, isObject, type Json, type JsonObject, objectsIn } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { graphql, type GraphqlEndpoint } from './graphql.ts';
import { overview } from './overview.ts';

export interface TypeReference {
  /** Named type without lists and `!`. */
  readonly name: string;
  readonly kind: string;
  /** Such as `[album!]!`. */
  readonly text: string;
}

export interface FieldType extends TypeReference {
  readonly field: string;
  readonly description: string;
  readonly arguments: readonly FieldType[];
  /** True for an argument or input field with a default value. */
  readonly hasDefault: boolean;
}

/** A value of an enum. */
export interface EnumValue {
  readonly name: string;
  readonly description: string;
}

export interface SchemaType {
  readonly name: string;
  readonly kind: string;
  readonly description: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly inputFields: ReadonlyMap<string, FieldType>;
  readonly enumValues: readonly EnumValue[];
  /** Names of the types of a union, or of those that implement an interface. */
  readonly possibleTypes: readonly string[];
}

/** Whose schema is read, and from which endpoint. */
export interface SchemaPersona extends Persona {
  /** Defaults to `v1/graphql`. */
  readonly endpoint?: GraphqlEndpoint;
}

const BATCH = 10;
const REFERENCE = 'kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}';
const TYPE = `name kind description
 fields{name description type{${REFERENCE}} args{name description defaultValue type{${REFERENCE}}}}
 inputFields{name description defaultValue type{${REFERENCE}}} enumValues{name description} possibleTypes{name}`;

type SchemaCache = Map<string, Promise<SchemaType | undefined>>;
const schemas = new Map<string, SchemaCache>();
const MAX_SCHEMAS = 12;
const roots = new WeakMap<SchemaCache, Promise<Readonly<Record<'query' | 'mutation' | 'subscription', string | undefined>>>>();
const fieldsOfRoots = new WeakMap<SchemaCache, Map<string, Promise<ReadonlyMap<string, FieldType>>>>();

let queued: { persona: SchemaPersona; name: string; resolve: (type: SchemaType | undefined) => void; reject: (error: unknown) => void }[] =
  [];

/** Returns the cache of a schema, which depends only on the version and on the role or token. */
function schemaOf(persona: SchemaPersona): SchemaCache {
  const key = JSON.stringify([overview.peek()?.version, persona.role, persona.token, persona.endpoint]);
  const known = schemas.get(key) ?? new Map();
  schemas.delete(key);
  schemas.set(key, known);
  for (const old of [...schemas.keys()].slice(0, Math.max(0, schemas.size - MAX_SCHEMAS))) schemas.delete(old);
  return known;
}

/** Reads a type; undefined if the persona's schema does not have it. @throws Failure if the role may not introspect */
export function readType(persona: SchemaPersona, name: string): Promise<SchemaType | undefined> {
  const schema = schemaOf(persona);
  const known = schema.get(name);
  if (known !== undefined) return known;
  const pending = new Promise<SchemaType | undefined>((resolve, reject) => {
    if (queued.length === 0) setTimeout(() => void flush(), 0);
    queued.push({ persona, name, resolve, reject });
  });
  schema.set(name, pending);
  pending.catch(() => schema.delete(name));
  return pending;
}

/** Reads the names of the root types. @throws Failure if the role may not introspect */
export async function rootTypes(
  persona: SchemaPersona,
): Promise<Readonly<Record<'query' | 'mutation' | 'subscription', string | undefined>>> {
  const schema = schemaOf(persona);
  const known = roots.get(schema);
  if (known !== undefined) return known;
  const pending = graphql({ query: 'query Roots{__schema{queryType{name} mutationType{name} subscriptionType{name}}}' }, persona).then(
    (data) => {
      const found = isObject(data['__schema']) ? data['__schema'] : {};
      const nameOf = (json: Json | undefined): string | undefined => (isObject(json) ? String(json['name']) : undefined);
      return {
        query: nameOf(found['queryType']),
        mutation: nameOf(found['mutationType']),
        subscription: nameOf(found['subscriptionType']),
      };
    },
  );
  roots.set(schema, pending);
  pending.catch(() => roots.delete(schema));
  return pending;
}

/** Reads the root fields without arguments, which would be most of the response for thousands of fields. @throws Failure */
export function rootFields(persona: SchemaPersona, type: string): Promise<ReadonlyMap<string, FieldType>> {
  const schema = schemaOf(persona);
  const cache = fieldsOfRoots.get(schema) ?? new Map<string, Promise<ReadonlyMap<string, FieldType>>>();
  fieldsOfRoots.set(schema, cache);
  const known = cache.get(type);
  if (known !== undefined) return known;
  const pending = graphql(
    { query: `query RootFields{__type(name:${JSON.stringify(type)}){fields{name description type{${REFERENCE}}}}}` },
    persona,
  ).then((data) => fieldsOf(isObject(data['__type']) ? data['__type']['fields'] : undefined));
  cache.set(type, pending);
  pending.catch(() => cache.delete(type));
  return pending;
}

/** Maximum number of root fields whose arguments are read without a request for them. */
const MAX_ROOT_FIELDS = 400;

/**
 * Reads a root type: with the arguments of its fields if it is small or has been read before, else without them.
 * @throws Failure
 */
export async function readRootType(
  persona: SchemaPersona,
  name: string,
): Promise<{ readonly fields: ReadonlyMap<string, FieldType>; readonly hasArguments: boolean }> {
  const fields = await rootFields(persona, name);
  const whole = fields.size <= MAX_ROOT_FIELDS || schemaOf(persona).has(name) ? await readType(persona, name) : undefined;
  return whole === undefined ? { fields, hasArguments: false } : { fields: whole.fields, hasArguments: true };
}

async function flush(): Promise<void> {
  const waiting = queued;
  queued = [];
  const groups = Map.groupBy(waiting, ({ persona }) => JSON.stringify(persona));
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += BATCH) void readTypes(group.slice(start, start + BATCH));
  }
}

async function readTypes(batch: typeof queued): Promise<void> {
  const [first] = batch;
  if (first === undefined) return;
  try {
    const query = `query Types{${batch.map(({ name }, index) => `t${index}:__type(name:${JSON.stringify(name)}){${TYPE}}`).join(' ')}}`;
    const data = await graphql({ query }, first.persona);
    for (const [index, { resolve }] of batch.entries()) resolve(decodeType(data[`t${index}`]));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

function decodeType(json: Json | undefined): SchemaType | undefined {
  if (!isObject(json)) return undefined;
  return {
    name: String(json['name']),
    kind: String(json['kind']),
    description: textOf(json['description']),
    fields: fieldsOf(json['fields']),
    inputFields: fieldsOf(json['inputFields']),
    enumValues: objectsIn(json['enumValues']).map((value) => ({ name: String(value['name']), description: textOf(value['description']) })),
    possibleTypes: objectsIn(json['possibleTypes']).map(({ name }) => String(name)),
  };
}

function textOf(json: Json | undefined): string {
  return typeof json === 'string' ? json : '';
}

function fieldsOf(json: Json | undefined): ReadonlyMap<string, FieldType> {
  if (!isList(json)) return new Map();
  return new Map(
    json.filter(isObject).map((field) => {
      const name = String(field['name']);
      return [
        name,
        {
          field: name,
          description: textOf(field['description']),
          hasDefault: typeof field['defaultValue'] === 'string',
          arguments: [...fieldsOf(field['args']).values()],
          ...referenceOf(field['type'] as JsonObject),
        },
      ];
    }),
  );
}

function referenceOf(type: JsonObject): TypeReference {
  const inner = isObject(type['ofType']) ? referenceOf(type['ofType']) : undefined;
  if (inner === undefined) {
    const name = String(type['name']);
    return { name, kind: String(type['kind']), text: name };
  }
  return { ...inner, text: type['kind'] === 'LIST' ? `[${inner.text}]` : `${inner.text}!` };
}

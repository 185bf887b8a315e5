/** Types of a persona's GraphQL schema, read on demand, ten per request. Nothing reads the whole schema. */
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { graphql } from './graphql.ts';
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
}

export interface SchemaType {
  readonly name: string;
  readonly kind: string;
  readonly description: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  readonly inputFields: ReadonlyMap<string, FieldType>;
  readonly enumValues: readonly string[];
}

const BATCH = 10;
const REFERENCE = 'kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}';
const TYPE = `name kind description
 fields{name description type{${REFERENCE}} args{name description type{${REFERENCE}}}}
 inputFields{name description type{${REFERENCE}}} enumValues{name}`;

type SchemaCache = Map<string, Promise<SchemaType | undefined>>;
const schemas = new Map<string, SchemaCache>();
const MAX_SCHEMAS = 12;
const roots = new WeakMap<SchemaCache, Promise<Readonly<Record<'query' | 'mutation' | 'subscription', string | undefined>>>>();
const fieldsOfRoots = new WeakMap<SchemaCache, Map<string, Promise<ReadonlyMap<string, FieldType>>>>();

let queued: { persona: Persona; name: string; resolve: (type: SchemaType | undefined) => void; reject: (error: unknown) => void }[] = [];

/** Returns the cache of a schema, which depends only on the version and on the role or token. */
function schemaOf(persona: Persona): SchemaCache {
  const key = JSON.stringify([overview.peek()?.version, persona.role, persona.token]);
  const known = schemas.get(key) ?? new Map();
  schemas.delete(key);
  schemas.set(key, known);
  for (const old of [...schemas.keys()].slice(0, Math.max(0, schemas.size - MAX_SCHEMAS))) schemas.delete(old);
  return known;
}

/** Reads a type; undefined if the persona's schema does not have it. @throws Failure if the role may not introspect */
export function readType(persona: Persona, name: string): Promise<SchemaType | undefined> {
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
export async function rootTypes(persona: Persona): Promise<Readonly<Record<'query' | 'mutation' | 'subscription', string | undefined>>> {
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
export function rootFields(persona: Persona, type: string): Promise<ReadonlyMap<string, FieldType>> {
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
  const values = json['enumValues'];
  return {
    name: String(json['name']),
    kind: String(json['kind']),
    description: typeof json['description'] === 'string' ? json['description'] : '',
    fields: fieldsOf(json['fields']),
    inputFields: fieldsOf(json['inputFields']),
    enumValues: isList(values) ? values.filter(isObject).map((value) => String(value['name'])) : [],
  };
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
          description: typeof field['description'] === 'string' ? field['description'] : '',
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

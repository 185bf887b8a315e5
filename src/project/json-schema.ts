/** Converts descriptions of codecs to JSON Schema (draft 7), for editors. Accepts what the codecs accept, and more where they say too little. */
import type { FieldDescription, TypeDescription } from '../metadata/codec.ts';
import type { Json, JsonObject } from '../util/json.ts';

/** In any place of a list or object, a file can be included. */
const OR_INCLUDE = { pattern: '^!include ' };
const SCALARS: Readonly<Record<string, string>> = { Text: 'string', NonEmptyText: 'string', Int: 'integer', Bool: 'boolean' };

/** Collects the definitions of one schema file. */
export class SchemaFile {
  readonly #names = new Map<TypeDescription, string>();
  readonly #definitions: Record<string, Json> = {};
  readonly #isPartial: boolean;

  /** @param isPartial no key is required, because another file has the others */
  constructor(isPartial = false) {
    this.#isPartial = isPartial;
  }

  /** Returns the complete schema of a file. */
  complete(title: string, schema: JsonObject): JsonObject {
    const definitions: JsonObject = Object.keys(this.#definitions).length === 0 ? {} : { definitions: this.#definitions };
    return { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema, ...definitions };
  }

  of(type: TypeDescription): JsonObject {
    const { name, fields, about } = type;
    const [inner] = about?.of ?? [];
    if (fields !== undefined) return this.#reference(type, fields);
    if (name.startsWith('[') && inner !== undefined) return listOf(this.of(inner));
    if (name === 'HashMap' && inner !== undefined)
      return { type: ['object', 'string'], ...OR_INCLUDE, additionalProperties: this.of(inner) };
    const description: JsonObject = about?.description === undefined ? {} : { description: about.description };
    if (about?.values !== undefined && about.description === undefined) return { enum: [...about.values] };
    const scalar = SCALARS[name];
    return scalar === undefined ? description : { type: scalar, ...description };
  }

  /** Returns an object with these keys. */
  object(fields: readonly FieldDescription[]): JsonObject {
    const properties: Record<string, Json> = {};
    for (const field of fields) {
      const schema = this.of(field.type);
      const value = field.required ? schema : orNull(schema);
      const own = field.default === undefined || '$ref' in value ? value : { ...value, default: field.default };
      for (const key of [field.key, ...field.aliases]) properties[key] = own;
    }
    const required = this.#isPartial ? [] : fields.filter(({ required, aliases }) => required && aliases.length === 0);
    return {
      ...OR_INCLUDE,
      properties,
      ...(required.length === 0 ? {} : { required: required.map(({ key }) => key) }),
      additionalProperties: false,
    };
  }

  /** A definition per type: types may contain themselves. */
  #reference(type: TypeDescription, fields: readonly FieldDescription[]): JsonObject {
    let name = this.#names.get(type);
    if (name === undefined) {
      const taken = new Set(this.#names.values());
      const base = type.name.replace(/\W+/g, '_');
      for (let i = 1; name === undefined || taken.has(name); i++) name = i === 1 ? base : `${base}${i}`;
      this.#names.set(type, name);
      const { description, of, values } = type.about ?? {};
      const hasOtherForms = description !== undefined || of !== undefined || values !== undefined;
      const object = this.object(fields);
      // Without `type`, the keywords of objects do not restrict other forms, such as a name alone.
      const { pattern: _, ...open } = object;
      this.#definitions[name] = hasOtherForms
        ? { ...(description === undefined ? {} : { description }), ...open }
        : { type: ['object', 'string'], ...object };
    }
    return { $ref: `#/definitions/${name}` };
  }
}

export function listOf(item: JsonObject): JsonObject {
  return { type: ['array', 'string'], ...OR_INCLUDE, items: item };
}

/** Returns a schema that also accepts null, which counts as an absent key. */
function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return { ...schema, enum: [...(values as readonly Json[]), null] };
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (Array.isArray(type)) return { ...schema, type: [...(type as readonly Json[]), 'null'] };
  return Object.keys(schema).some((key) => key !== 'description') ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** GraphQL types as OpenAPI 3.0 schemas. */
import type { DeclaredType } from '../../graphql-engine/variables.ts';
import type { SelectedField } from '../../graphql-engine/analysis/analyse.ts';
import type { InputNamedType } from '../../graphql-engine/analysis/arguments.ts';
import {
  type EnumSchemaType,
  type InputObjectType,
  type InputTypeRef,
  namedTypeOf,
  type OutputTypeRef,
} from '../../graphql-engine/types.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { OpenApiForm } from './open-api-form.ts';

/** Shared schemas by name. */
export type Components = Map<string, JsonObject>;

const BUILT_IN: Readonly<Record<string, string>> = { Int: 'integer', Float: 'number', String: 'string', Boolean: 'boolean', ID: 'string' };

/** Database scalars whose values always have one JSON form; other scalars may have any. */
const SCALARS: Readonly<Record<string, JsonObject>> = {
  uuid: { type: 'string', pattern: '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89aAbB][a-f0-9]{3}-[a-f0-9]{12}' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string' },
  timetz: { type: 'string' },
  timestamp: { type: 'string' },
  timestamptz: { type: 'string', format: 'date-time' },
  interval: { type: 'string' },
  citext: { type: 'string' },
  bpchar: { type: 'string' },
  name: { type: 'string' },
  bytea: { type: 'string' },
  inet: { type: 'string' },
  smallint: { type: 'integer' },
};

function scalarSchema(name: string): JsonObject {
  const type = BUILT_IN[name];
  return type === undefined ? (SCALARS[name] ?? {}) : { type };
}

/** Returns the schema of a value in a URL: a scalar type without details. */
export function parameterSchema(name: string): JsonObject {
  const { type = 'string' } = scalarSchema(name);
  return { type };
}

export class SchemaWriter {
  readonly components: Components = new Map();
  readonly #form: OpenApiForm;

  constructor(form: OpenApiForm) {
    this.#form = form;
  }

  /** Returns the schema of a field in the response. */
  output(field: SelectedField, type: OutputTypeRef = field.type): JsonObject {
    const nullable = !type.nonNull;
    if (type.kind === 'list') return { items: this.output(field, type.item), type: 'array', nullable };
    const named = namedTypeOf(type);
    if (named.kind === 'scalar') return this.#scalar(named.name, nullable);
    if (named.kind === 'enum') return enumSchema(named, nullable);
    return {
      title: named.name,
      type: 'object',
      ...described(named.description),
      nullable,
      ...properties([...field.fields].map(([key, inner]) => [key, this.output(inner)])),
    };
  }

  /** Returns the schema of a variable. @param named the type inside its lists; `null` if it is unknown */
  variable(type: DeclaredType, named: InputNamedType | null): JsonObject {
    const nullable = !type.nonNull;
    if (type.kind === 'list') return { items: this.variable(type.item, named), type: 'array', nullable };
    return named === null ? this.#scalar(type.name, nullable) : this.#input(named, nullable);
  }

  #inputRef(type: InputTypeRef): JsonObject {
    const nullable = !type.nonNull;
    if (type.kind === 'list') return { items: this.#inputRef(type.item), type: 'array', nullable };
    return this.#input(type.type(), nullable);
  }

  #input(named: InputNamedType, nullable: boolean): JsonObject {
    if (named.kind === 'scalar') return this.#scalar(named.name, nullable);
    if (named.kind === 'enum') return this.#component(named.name, nullable, () => enumSchema(named, nullable));
    return this.#component(named.name, nullable, () => this.#inputObject(named, nullable));
  }

  #inputObject(named: InputObjectType, nullable: boolean): JsonObject {
    const fields = [...named.fields().values()].map((field) => [field.name, this.#inputRef(field.type)] as const);
    return { title: named.name, type: 'object', ...described(named.description), nullable, ...properties(fields) };
  }

  #scalar(name: string, nullable: boolean): JsonObject {
    const schema = this.#form.nullable({ title: name, ...(this.#form.scalar(name) ?? scalarSchema(name)) }, nullable);
    return BUILT_IN[name] === undefined ? this.#component(name, nullable, () => schema) : schema;
  }

  /** Returns a reference to a shared schema, which may be recursive. */
  #component(name: string, nullable: boolean, make: () => JsonObject): JsonObject {
    const key = nullable ? name : this.#form.notNullKey(name);
    if (!this.components.has(key)) {
      this.components.set(key, {});
      this.components.set(key, make());
    }
    return { $ref: `#/components/schemas/${key}` };
  }
}

function enumSchema(type: EnumSchemaType, nullable: boolean): JsonObject {
  return { title: type.name, type: 'string', ...described(type.description), nullable, enum: [...type.values().keys()] };
}

function described(description: string | null): JsonObject {
  return description === null ? {} : { description };
}

/** Returns `properties`, omitted if there are none. */
export function properties(fields: readonly (readonly [name: string, schema: Json])[]): JsonObject {
  return fields.length === 0 ? {} : { properties: Object.fromEntries(fields) };
}

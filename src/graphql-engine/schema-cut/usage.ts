/** The parts of a schema that documents use, while they are collected. */
import type { IntrospectionField, IntrospectionType } from 'graphql';
import type { SchemaTypes } from './schema-types.ts';

export interface UsedType {
  /** Names of fields with the names of their arguments. */
  readonly fields: Map<string, Set<string>>;
  /** Values of an enum. */
  readonly values: Set<string>;
}

export class Usage {
  readonly types = new Map<string, UsedType>();
  readonly directives = new Set<string>();
  /** Types to which a part was added since they were completed. */
  readonly changed = new Set<string>();
  readonly #schema: SchemaTypes;
  readonly #found = new Map<string, IntrospectionType | undefined>();
  readonly #fields = new Map<string, IntrospectionField | undefined>();

  constructor(schema: SchemaTypes) {
    this.#schema = schema;
  }

  /** Returns the same object each time; `undefined` if the schema does not have the type. */
  find(name: string): IntrospectionType | undefined {
    if (!this.#found.has(name)) this.#found.set(name, this.#schema.known(name));
    return this.#found.get(name);
  }

  field(type: string, name: string): IntrospectionField | undefined {
    const key = `${type} ${name}`;
    if (!this.#fields.has(key)) this.#fields.set(key, this.#schema.field(type, name));
    return this.#fields.get(key);
  }

  keep(name: string): UsedType {
    const known = this.types.get(name);
    if (known !== undefined) return known;
    const made: UsedType = { fields: new Map(), values: new Set() };
    this.types.set(name, made);
    this.changed.add(name);
    return made;
  }

  /** @returns the arguments of the field that are used so far */
  keepField(type: string, field: string): Set<string> {
    const { fields } = this.keep(type);
    const known = fields.get(field);
    if (known !== undefined) return known;
    const made = new Set<string>();
    fields.set(field, made);
    this.changed.add(type);
    return made;
  }

  keepArgument(type: string, field: string, argument: string): void {
    const args = this.keepField(type, field);
    if (args.has(argument)) return;
    args.add(argument);
    this.changed.add(type);
  }

  keepValue(type: string, value: string): void {
    this.keep(type).values.add(value);
  }
}

/** The parts of a schema that documents use, while they are collected. */
import type { IntrospectionType } from 'graphql';
import type { InputShape } from './schema-reader.ts';

export interface UsedType {
  /** Names of fields with the names of their arguments. */
  readonly fields: Map<string, Set<string>>;
  /** Values of an enum. */
  readonly values: Set<string>;
}

/** Types that have been read, by name; `null` for a name that the schema does not have. */
export type KnownTypes = ReadonlyMap<string, IntrospectionType | null>;

/** Input objects of which only the fields have been read. */
export type KnownShapes = ReadonlyMap<string, InputShape>;

export class Usage {
  readonly types = new Map<string, UsedType>();
  readonly directives = new Set<string>();
  /** Types that have to be read to continue. */
  readonly missing = new Set<string>();
  /** Input objects whose fields have to be read to continue. */
  readonly missingShapes = new Set<string>();
  readonly #known: KnownTypes;
  readonly #shapes: KnownShapes;
  #size = 0;

  constructor(known: KnownTypes, shapes: KnownShapes) {
    this.#known = known;
    this.#shapes = shapes;
  }

  /** True if no type has to be read. */
  get isComplete(): boolean {
    return this.missing.size === 0 && this.missingShapes.size === 0;
  }

  /** Number of parts, which only grows. */
  get size(): number {
    return this.#size;
  }

  /** Returns a type; `undefined` if it does not exist, or has to be read first. */
  find(name: string): IntrospectionType | undefined {
    const type = this.#known.get(name);
    if (type === undefined) this.missing.add(name);
    return type ?? undefined;
  }

  /** Returns the fields of an input object, by whose types it is classified; `undefined` if they have to be read first. */
  shape(name: string): InputShape['inputFields'] | undefined {
    const type = this.#known.get(name);
    if (type?.kind === 'INPUT_OBJECT') return type.inputFields;
    const shape = this.#shapes.get(name);
    if (shape === undefined && type === undefined) this.missingShapes.add(name);
    return shape?.inputFields;
  }

  hasShape(name: string): boolean {
    return this.#known.has(name) || this.#shapes.has(name);
  }

  keep(name: string): UsedType {
    const known = this.types.get(name);
    if (known !== undefined) return known;
    const made: UsedType = { fields: new Map(), values: new Set() };
    this.types.set(name, made);
    this.#size += 1;
    return made;
  }

  /** @returns the arguments of the field that are used so far */
  keepField(type: string, field: string): Set<string> {
    const { fields } = this.keep(type);
    const known = fields.get(field);
    if (known !== undefined) return known;
    const made = new Set<string>();
    fields.set(field, made);
    this.#size += 1;
    return made;
  }

  keepArgument(type: string, field: string, argument: string): void {
    this.#add(this.keepField(type, field), argument);
  }

  keepValue(type: string, value: string): void {
    this.#add(this.keep(type).values, value);
  }

  keepDirective(name: string): void {
    this.#add(this.directives, name);
  }

  #add(set: Set<string>, name: string): void {
    if (set.has(name)) return;
    set.add(name);
    this.#size += 1;
  }
}

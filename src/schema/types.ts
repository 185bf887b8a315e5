/**
 * The type model of a role schema: lazy by type and by field. A type is a thunk that is run at
 * most once (`lazy`), and each field knows its type and how a selection of it becomes IR, so
 * that schema and translation cannot disagree. Nothing here knows tables or permissions.
 */
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { FieldMeaning } from './meaning.ts';

export type NamedType = ScalarSchemaType | EnumSchemaType | InputObjectType | ObjectType | AbstractType;

/** Stands for one of several object types. */
export type AbstractType = InterfaceType | UnionType;

/** `[T!]!` and friends around a named type. Named types are reached through thunks. */
export type TypeRef<T extends NamedType = NamedType> =
  | { readonly kind: 'named'; readonly name: string; readonly type: () => T; readonly nonNull: boolean }
  | { readonly kind: 'list'; readonly item: TypeRef<T>; readonly nonNull: boolean };

export type InputTypeRef = TypeRef<ScalarSchemaType | EnumSchemaType | InputObjectType>;
export type OutputTypeRef = TypeRef<ScalarSchemaType | EnumSchemaType | ObjectType | AbstractType>;

export interface ScalarSchemaType {
  readonly kind: 'scalar';
  readonly name: string;
  readonly description: string | null;
  /**
   * Coerces a JSON value (from a variable or a literal) at input positions of this type.
   * `strict` built-ins (`Int` of limit) refuse what column positions would take.
   * @param found how messages call the value (`an integer`, `an enum value`); else it is named after its JSON kind
   */
  check(json: Json, at: Path, found?: string): Json;
  /** Takes every literal, enum values too (they become strings): json and jsonb. */
  readonly anyLiteral?: boolean;
  /** Takes variables of every type. */
  readonly anyVariable?: boolean;
  /** Takes variables of this type too, which says more about its values. */
  readonly standsFor?: InputTypeRef;
}

export interface EnumSchemaType {
  readonly kind: 'enum';
  readonly name: string;
  readonly description: string | null;
  /**
   * All that a role sees of the type, and of what it leads to, comes from this object alone, besides what all tables of its source
   * share: where two schemas of a role have the same object, these types are the same in both.
   */
  readonly settledBy?: object;
  readonly values: () => ReadonlyMap<string, EnumSchemaValue>;
}

export interface EnumSchemaValue {
  readonly name: string;
  readonly description: string | null;
  /** Why it should not be used; absent: it may be. */
  readonly deprecation?: string;
  /** What the value stands for in the IR or the database (a column name, an enum table's value). */
  readonly value: string;
}

export interface InputField {
  readonly name: string;
  readonly description: string | null;
  readonly type: InputTypeRef;
  /** GraphQL default value, printed in introspection. */
  readonly default?: Json;
  /** Why it should not be used; absent: it may be. */
  readonly deprecation?: string;
}

export interface InputObjectType {
  readonly kind: 'input-object';
  readonly name: string;
  readonly description: string | null;
  /** As of an enum. */
  readonly settledBy?: object;
  readonly fields: () => ReadonlyMap<string, InputField>;
  /** Its keys, and all below them, select rows: what is left out lets more rows through. */
  readonly isCondition?: true;
}

export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly description: string | null;
  /** As of an enum. */
  readonly settledBy?: object;
  readonly fields: () => ReadonlyMap<string, OutputField>;
  /**
   * One field by name, without making the others: for roots with thousands of fields. Where it is
   * present it is the whole truth (undefined: no such field), equal to `fields().get(name)`.
   */
  readonly field?: (name: string) => OutputField | undefined;
  /** With `field`: the names of `fields()`, and perhaps some that have none. Whoever walks over all fields can pause between them. */
  readonly names?: () => Iterable<string>;
  /** Absent: none. */
  readonly interfaces?: () => readonly InterfaceType[];
}

export interface InterfaceType {
  readonly kind: 'interface';
  readonly name: string;
  readonly description: string | null;
  /** What the object types have in common; their own fields say what a selection means. */
  readonly fields: () => ReadonlyMap<string, OutputField>;
  readonly interfaces: () => readonly InterfaceType[];
  readonly members: () => readonly ObjectType[];
}

export interface UnionType {
  readonly kind: 'union';
  readonly name: string;
  readonly description: string | null;
  readonly members: () => readonly ObjectType[];
}

export interface OutputField {
  readonly name: string;
  readonly description: string | null;
  readonly type: OutputTypeRef;
  readonly args: ReadonlyMap<string, InputField>;
  /** Why it should not be used; absent: it may be. */
  readonly deprecation?: string;
  /** What becomes of a selection of it; the translator of its parent type reads it. */
  readonly meaning: FieldMeaning;
}

/** The object that settles a type; see `EnumSchemaType`. */
export function settledBy(type: NamedType): object | undefined {
  return type.kind === 'enum' || type.kind === 'input-object' || type.kind === 'object' ? type.settledBy : undefined;
}

/** The schema of one role in one variant. */
export interface RootTypes {
  readonly query: ObjectType;
  readonly mutation: ObjectType | null;
  readonly subscription: ObjectType | null;
}

/** Runs `make` at most once. */
export function lazy<T>(make: () => T): () => T {
  let value: T | undefined;
  let made = false;
  return () => {
    if (!made) {
      value = make();
      made = true;
    }
    return value as T;
  };
}

/** An enum whose values are made when they are first asked for. */
export function enumType(name: string, description: string | null, values: () => readonly EnumSchemaValue[]): EnumSchemaType {
  return { kind: 'enum', name, description, values: lazy(() => new Map(values().map((value) => [value.name, value]))) };
}

/** As GraphQL writes it: `[Int!]!`. */
export function printType(type: TypeRef): string {
  const inner = type.kind === 'list' ? `[${printType(type.item)}]` : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/** A reference to a type that is made when it is asked for. */
export function named<T extends NamedType>(name: string, type: () => T, nonNull = false): TypeRef<T> {
  return { kind: 'named', name, type, nonNull };
}

export function listOf<T extends NamedType>(item: TypeRef<T>, nonNull = false): TypeRef<T> {
  return { kind: 'list', item, nonNull };
}

export function nonNull<T extends NamedType>(type: TypeRef<T>): TypeRef<T> {
  return { ...type, nonNull: true };
}

/** The type inside lists. */
export function namedTypeOf<T extends NamedType>(type: TypeRef<T>): T {
  return type.kind === 'list' ? namedTypeOf(type.item) : type.type();
}

/** One field of an object type, without making the others where the type can do so. */
export function outputField(type: ObjectType, name: string): OutputField | undefined {
  return type.field === undefined ? type.fields().get(name) : type.field(name);
}

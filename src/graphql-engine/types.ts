/**
 * The type model of a role schema, lazy by type and by field. A type is a function that runs at most once (`lazy`), and each field has its
 * type and the translation of a selection to IR, so that schema and translation cannot disagree. Independent of tables and permissions.
 */
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { ActionOutput, ActionResultPart, ActionRoot } from '../ir/action.ts';
import type { WrittenItems, WrittenJson } from '../ir/input-validation.ts';
import type { MutationField, MutationRoot } from '../ir/mutation.ts';
import type { RemoteOutput, RemoteRoot } from '../ir/remote.ts';
import type { RemoteJoin } from '../ir/remote-join.ts';
import type { AggregateField, AggregateItem, Field, SelectRoot } from '../ir/select.ts';
import type { MembersValue, Value } from '../ir/value.ts';
import type { Bytes } from '../util/bytes.ts';
import type { CatalogType } from '../catalog/catalog.ts';
import type { MetaRead } from './introspection/meta-read.ts';
import type { Read } from '../ir/bool-exp.ts';

export type NamedType = ScalarSchemaType | EnumSchemaType | InputObjectType | ObjectType | AbstractType;

/** An interface or a union. */
export type AbstractType = InterfaceType | UnionType;

/** A named type with its wrappers, such as `[T!]!`. Named types are built on demand. */
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
   * Coerces a JSON value (from a variable or a literal) at input positions of this type. `strict` built-ins (`Int` of limit) reject values
   * that column positions accept.
   * @param found the value in messages (`an integer`, `an enum value`); its JSON kind by default
   */
  check(json: Json, at: Path, found?: string): Json;
  /** If true, accepts enum literals, which become strings. True for every scalar that GraphQL itself does not define. */
  readonly enumLiterals?: boolean;
  /** If true, accepts variables of every type. */
  readonly anyVariable?: boolean;
  /** A more specific type whose variables are accepted too. */
  readonly standsFor?: InputTypeRef;
}

export interface EnumSchemaType {
  readonly kind: 'enum';
  readonly name: string;
  readonly description: string | null;
  /**
   * The object that determines everything that a role sees of the type and of the types that it leads to, apart from what all tables of its
   * source share: if two schemas of a role have the same object, these types are equal.
   */
  readonly derivedFrom?: object;
  readonly values: () => ReadonlyMap<string, EnumSchemaValue>;
}

export interface EnumSchemaValue {
  readonly name: string;
  readonly description: string | null;
  /** Reason for a deprecation. */
  readonly deprecation?: string;
  /** Value in the IR or the database: a column name, or a value of an enum table. */
  readonly value: string;
}

export interface InputField {
  readonly name: string;
  readonly description: string | null;
  readonly type: InputTypeRef;
  /** GraphQL default value, printed in introspection. */
  readonly default?: Json;
  /** Reason for a deprecation. */
  readonly deprecation?: string;
}

export interface InputObjectType {
  readonly kind: 'input-object';
  readonly name: string;
  readonly description: string | null;
  /** See `EnumSchemaType`. */
  readonly derivedFrom?: object;
  readonly fields: () => ReadonlyMap<string, InputField>;
  /** If true, its keys, and all keys below them, select rows: an omitted key lets more rows through. */
  readonly isCondition?: boolean;
}

export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly description: string | null;
  /** See `EnumSchemaType`. */
  readonly derivedFrom?: object;
  readonly fields: () => ReadonlyMap<string, OutputField>;
  /**
   * Returns one field by name without building the others, for roots with thousands of fields. If present it is authoritative: undefined
   * means that there is no such field. Equal to `fields().get(name)`.
   */
  readonly field?: (name: string) => OutputField | undefined;
  /** With `field`: the names of `fields()`, and perhaps some without a field, so that a walk over all fields can yield in between. */
  readonly names?: () => Iterable<string>;
  /** Default none. */
  readonly interfaces?: () => readonly InterfaceType[];
}

export interface InterfaceType {
  readonly kind: 'interface';
  readonly name: string;
  readonly description: string | null;
  /** Common fields of the object types; the object types' own fields have the meaning of a selection. */
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
  /** Reason for a deprecation. */
  readonly deprecation?: string;
  /** Meaning of a selection; the translation of the parent type reads it. */
  readonly meaning: FieldMeaning;
}

/** Returns the object that a type is derived from; see `EnumSchemaType`. */
export function derivedFrom(type: NamedType): object | undefined {
  return type.kind === 'enum' || type.kind === 'input-object' || type.kind === 'object' ? type.derivedFrom : undefined;
}

/** The schema of one role in one variant. */
export interface RootTypes {
  readonly query: ObjectType;
  readonly mutation: ObjectType | null;
  readonly subscription: ObjectType | null;
}

/** Returns a function that runs `make` at most once. */
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

/** Returns an enum whose values are built on demand. */
export function enumType(name: string, description: string | null, values: () => readonly EnumSchemaValue[]): EnumSchemaType {
  return { kind: 'enum', name, description, values: lazy(() => new Map(values().map((value) => [value.name, value]))) };
}

/** Prints a type in GraphQL notation: `[Int!]!`. */
export function printType(type: TypeRef): string {
  const inner = type.kind === 'list' ? `[${printType(type.item)}]` : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/** Returns a reference to a type that is built on demand. */
export function typeRef<T extends NamedType>(name: string, type: () => T, nonNull = false): TypeRef<T> {
  return { kind: 'named', name, type, nonNull };
}

export function listTypeRef<T extends NamedType>(item: TypeRef<T>, nonNull = false): TypeRef<T> {
  return { kind: 'list', item, nonNull };
}

export function nonNull<T extends NamedType>(type: TypeRef<T>): TypeRef<T> {
  return { ...type, nonNull: true };
}

/** Returns the type inside lists. */
export function namedTypeOf<T extends NamedType>(type: TypeRef<T>): T {
  return type.kind === 'list' ? namedTypeOf(type.item) : type.type();
}

/** Returns one field of an object type, without building the others if the type supports that. */
export function outputField(type: ObjectType, name: string): OutputField | undefined {
  return type.field === undefined ? type.fields().get(name) : type.field(name);
}

/** One field of a selection after merging: fragments are expanded, directives evaluated, arguments checked. */
export interface CollectedField {
  /** The alias, or the name. */
  readonly responseKey: string;
  readonly name: string;
  /** The definition; `null` for `__typename`, whose answer is `typeName`. */
  readonly field: OutputField | null;
  readonly typeName: string;
  /** Arguments of the request by name, including explicit nulls. */
  readonly args: ReadonlyMap<string, InputValue>;
  /** Path of names, not aliases: `$.selectionSet.author`. */
  readonly path: Path;
  /** Returns the selection on an object type; the first call performs all checks of this level. */
  select(type: ObjectType): readonly CollectedField[];
  /**
   * Adds a join to the operation, for a placeholder in the place of this field.
   * @param make translates the target; joins that it adds itself have higher indexes
   * @returns its index
   */
  join(make: () => RemoteJoin): number;
}

/**
 * A value at an input position: a literal, a variable, or a part of one. Examining the value of a variable records a constraint on the
 * plan; `value()` and `listValue()` do not examine it.
 */
export interface InputValue {
  readonly type: InputTypeRef;
  /** For example `$.selectionSet.author.args.where.id`. */
  readonly path: Path;
  /** Returns the same value at a position of another type. */
  as(type: InputTypeRef): InputValue;
  /** Returns true if the value is null; for a variable, this is recorded as a fact. */
  isNull(): boolean;
  /**
   * Returns the fields of an input object, in the order of the request, including nulls. Unknown and missing required fields are rejected.
   * @throws SvcError validation-failed
   */
  entries(): readonly { readonly field: InputField; readonly input: InputValue }[];
  /** Returns the items of a list; a single value counts as a list of one. */
  items(): readonly InputValue[];
  /**
   * Reads a list in a variable by key instead of item by item, so that lists of any length share a plan. Returns null if it is not such a
   * list, is shorter than `least`, or its items are not uniform objects: then `items` has to be used.
   * @param keys keys that items may have, and whether all items must have the key if one has it
   */
  objects(least: number, keys: ReadonlyMap<string, 'required' | 'optional'>): InputObjects | null;
  enumValue(): EnumSchemaValue;
  /** Returns a scalar as a reference that keeps the plan reusable; the caller has ruled out null or accepts it. */
  value(): Value;
  /** Returns a list of scalars (or enums) as one reference; null items are rejected. */
  listValue(): Value;
  /** Returns a scalar's current value, fixed in the plan. */
  json(): Json;
  /**
   * Reads an opaque text (see `opaque-text.ts`). Its shape becomes a fact; its parts remain references, so that a plan serves all texts of
   * the same shape.
   */
  opaque(): OpaqueInput;
  /** Counts work whose cost equals that of `values` more values. @throws SvcError */
  charge(values: number): void;
  /**
   * Returns the same value; but a list of more than `few` items (or of any length if the plan serves this request only) becomes data of
   * this request: no facts are recorded, and all of it is read item by item, up to a limit of its own. The plan then serves this request
   * only.
   * @param keys restricts this to lists with an object that has one of these keys; null for all lists
   */
  asData(few: number, keys: ReadonlySet<string> | null): InputValue;
  /** True if it is part of such data. */
  readonly isData: boolean;
  /** Returns the value of the request, of any type and unchecked; keeps the plan reusable. */
  written(): WrittenJson;
  /**
   * Returns the value of the request, after checks of literals and of the declarations of variables. Values of variables are checked when
   * the plan is bound. @throws SvcError
   */
  checkedAsWritten(): WrittenJson;
}

/** An opaque text, such as a node id or a cursor. */
export interface OpaqueInput {
  readonly text: Json;
  /** JSON inside of the text of this request, `undefined` if there is none. Only its shape may decide about the plan. */
  readonly json: Json | undefined;
  /**
   * Returns a reference to a part of the JSON.
   * @param name distinguishes it from other parts
   * @param read returns the part of the JSON of a request. @throws SvcError
   */
  part(name: string, read: (json: Json, at: Path) => Json): Value;
}

/** Objects of a list, by key. */
export interface InputObjects {
  /** Keys that at least one object has. */
  readonly keys: readonly string[];
  /** Returns one value per object, at a position of this type. */
  values(key: string, type: InputTypeRef): MembersValue;
  written(): WrittenItems;
}

/** Translation of a root field. */
export type RootMeaning =
  | {
      readonly kind: 'select';
      readonly source: string;
      /** The result has `alias`. */
      translate(field: CollectedField, alias: string): SelectRoot;
    }
  | {
      readonly kind: 'mutation';
      readonly source: string;
      translate(field: CollectedField, alias: string): MutationRoot;
    }
  /** Namespace of a source: an object whose fields are roots again. */
  | { readonly kind: 'namespace'; readonly type: ObjectType }
  /** One request to a remote schema: one of its root fields, or its namespace. */
  | { readonly kind: 'remote'; readonly remote: string; translate(field: CollectedField): RemoteRoot }
  /** Answer of a handler. */
  | { readonly kind: 'action'; translate(field: CollectedField): ActionRoot }
  /** A constant, such as `no_queries_available`. */
  | { readonly kind: 'constant'; readonly json: Json };

/** A field that does not belong to a table or function: `__schema`, `__type`, `_service` and `_entities`. */
export interface MetaMeaning {
  readonly kind: 'meta';
  /** True if its answer reveals the schema: rejected for a role whose introspection is disabled. */
  readonly showsSchema: boolean;
  /**
   * @param addRoot adds a root of a source and returns its index; `root` receives the alias that belongs to the index
   * @throws SvcError if the role has no access
   */
  respond(field: CollectedField, addRoot: AddRoot): ResponseNode;
}

export type AddRoot = (source: string, field: CollectedField, root: (alias: string) => SelectRoot | MutationRoot) => number;

/** The shape of the response, with places for the results of the roots. */
export type ResponseNode =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, node: ResponseNode])[] }
  /** Result of `roots[index]`. */
  | { readonly kind: 'root'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly ResponseNode[] }
  | { readonly kind: 'json'; readonly text: string }
  /** Produced cooperatively when it is written: introspection. */
  | { readonly kind: 'deferred'; readonly produce: () => Promise<readonly Bytes[]> };

export type FieldMeaning =
  | RootMeaning
  /** For `__schema`, `__type`, `_service` and `_entities`. */
  | MetaMeaning
  /** A field of an introspection type. */
  | MetaRead
  /** A key of a row's object. */
  | { readonly kind: 'row-field'; toField(field: CollectedField): Field }
  /** For `aggregate` and `nodes`. */
  | { readonly kind: 'aggregate-part'; toPart(field: CollectedField): AggregateField }
  /** For `count`, `sum` and so on. */
  | { readonly kind: 'aggregate-item'; toItem(field: CollectedField): AggregateItem }
  /** Operand of an aggregate. */
  | { readonly kind: 'operand'; readonly read: Read; readonly columnType: CatalogType }
  /** For `affected_rows` and `returning`. */
  | { readonly kind: 'mutation-result'; toField(field: CollectedField): MutationField }
  /** A field of a type of a remote schema. */
  | { readonly kind: 'remote-field'; toOutput(field: CollectedField): RemoteOutput }
  /** A field of the answer of an action. */
  | { readonly kind: 'action-field'; toOutput(field: CollectedField): ActionOutput }
  /** A field of the result of an asynchronous action. */
  | { readonly kind: 'action-result'; toPart(field: CollectedField): ActionResultPart }
  /** Answered by its parent field. */
  | { readonly kind: 'inner' };

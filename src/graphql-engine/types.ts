/**
 * The type model of a role schema: lazy by type and by field. A type is a thunk that is run at
 * most once (`lazy`), and each field knows its type and how a selection of it becomes IR, so
 * that schema and translation cannot disagree. Nothing here knows tables or permissions.
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
  /** Takes enum literals, which become strings. True for every scalar that GraphQL itself does not define. */
  readonly enumLiterals?: boolean;
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

/** One field of a selection after merging: fragments spread, directives evaluated, arguments checked. */
export interface CollectedField {
  /** Alias, else the name. */
  readonly responseKey: string;
  readonly name: string;
  /** The definition; for `__typename` `null`, then `typeName` is the answer. */
  readonly field: OutputField | null;
  readonly typeName: string;
  /** Arguments that were given, by name. An explicit null is there. */
  readonly args: ReadonlyMap<string, Input>;
  /** `$.selectionSet.author`: of names, not aliases. */
  readonly path: Path;
  /** Sub-selection on an object type; every check of this level is done on the first call. */
  select(type: ObjectType): readonly CollectedField[];
  /**
   * Adds a join to the operation, for a hole in the place of this field.
   * @param make translates the target; joins that it adds itself come after it
   * @returns its index
   */
  join(make: () => RemoteJoin): number;
}

/**
 * A value at an input position: a literal, a variable, or a part of one. Looking into the value of
 * a variable records a constraint on the plan; `value()` and `listValue()` do not look.
 */
export interface Input {
  readonly type: InputTypeRef;
  /** `$.selectionSet.author.args.where.id` */
  readonly path: Path;
  /** The same value at a position of another type. */
  as(type: InputTypeRef): Input;
  /** Whether the value is null here and now (a fact about the variable where it is one). */
  isNull(): boolean;
  /**
   * Fields given in an input object, in written order, nulls included. Unknown and missing
   * required fields are refused. @throws SvcError validation-failed
   */
  entries(): readonly { readonly field: InputField; readonly input: Input }[];
  /** Items of a list; a single value counts as a list of one. */
  items(): readonly Input[];
  /**
   * A list that is the value of a variable, read by key instead of item by item, so that lists of any length are one
   * plan; null where it is none, is shorter than `least`, or its items are no objects or not alike: then `items` is for it.
   * @param keys those that an item may have, with whether each item must have them once one has
   */
  objects(least: number, keys: ReadonlyMap<string, 'required' | 'optional'>): InputObjects | null;
  enumValue(): EnumSchemaValue;
  /** A scalar as a reference that leaves the plan reusable; null has been ruled out by the caller or is allowed. */
  value(): Value;
  /** A list of scalars (or enums) as one reference; null items are refused. */
  listValue(): Value;
  /** A scalar's value here and now, fixed in the plan. */
  json(): Json;
  /** Says that what becomes of the value costs as much as so many more values would. @throws SvcError */
  costs(values: number): void;
  /**
   * The same value; but a list of more than `few` items (or of any number once the plan serves this request alone)
   * becomes data of this request: nothing of it is recorded, and all that is in it is read item by item, however large
   * it is within a bound of its own. The plan then serves this request alone.
   * @param keys only a list with an object that has one of them; null: any list
   */
  asData(few: number, keys: ReadonlySet<string> | null): Input;
  /** Whether it is part of such data. */
  readonly isData: boolean;
  /** The value as the request wrote it, of any type and unchecked; leaves the plan reusable. */
  written(): WrittenJson;
  /**
   * The same, where variables stand at positions that their declarations fit, and literals where such literals may; what
   * variables hold is for whoever binds them. @throws SvcError
   */
  checkedAsWritten(): WrittenJson;
}

/** Objects of a list, by key. */
export interface InputObjects {
  /** Those that some object has. */
  readonly keys: readonly string[];
  /** One value per object, at a position of this type. */
  values(key: string, type: InputTypeRef): MembersValue;
  written(): WrittenItems;
}

/** What a root field becomes. */
export type RootMeaning =
  | {
      readonly kind: 'select';
      readonly source: string;
      /** `alias` of the result is to be the index given. */
      translate(field: CollectedField, alias: string): SelectRoot;
    }
  | {
      readonly kind: 'mutation';
      readonly source: string;
      translate(field: CollectedField, alias: string): MutationRoot;
    }
  /** Source namespaces: an object whose fields are roots again. */
  | { readonly kind: 'namespace'; readonly type: ObjectType }
  /** One request to a remote schema: a root field of it, or its namespace. */
  | { readonly kind: 'remote'; readonly remote: string; translate(field: CollectedField): RemoteRoot }
  /** What a handler of the deployer answers. */
  | { readonly kind: 'action'; translate(field: CollectedField): ActionRoot }
  /** A constant, such as `no_queries_available`. */
  | { readonly kind: 'constant'; readonly json: Json };

/** A field outside of any table or function: `__schema`, `__type`, `_service` and `_entities`. */
export interface MetaMeaning {
  readonly kind: 'meta';
  /** Its answer tells of the schema: refused to a role whose introspection is disabled. */
  readonly showsSchema: boolean;
  /**
   * @param addRoot adds a row of a source and gives its index; `root` gets the alias that the index asks for
   * @throws SvcError where the role may not ask
   */
  respond(field: CollectedField, addRoot: AddRoot): ResponseNode;
}

export type AddRoot = (source: string, field: CollectedField, root: (alias: string) => SelectRoot | MutationRoot) => number;

/** The shape of the response: where the results of the roots go. */
export type ResponseNode =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, node: ResponseNode])[] }
  /** Result of `roots[index]`. */
  | { readonly kind: 'root'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly ResponseNode[] }
  | { readonly kind: 'json'; readonly text: string }
  /** Made in slices on first use: introspection. */
  | { readonly kind: 'deferred'; readonly produce: () => Promise<readonly Bytes[]> };

export type FieldMeaning =
  | RootMeaning
  /** `__schema`, `__type`, `_service` and `_entities`. */
  | MetaMeaning
  /** A field of an introspection type. */
  | MetaRead
  /** A key of a row's object. */
  | { readonly kind: 'row-field'; toField(field: CollectedField): Field }
  /** `aggregate` and `nodes`. */
  | { readonly kind: 'aggregate-part'; toPart(field: CollectedField): AggregateField }
  /** `count`, `sum` and so on. */
  | { readonly kind: 'aggregate-item'; toItem(field: CollectedField): AggregateItem }
  /** What is summed up. */
  | { readonly kind: 'operand'; readonly read: Read; readonly columnType: CatalogType }
  /** `affected_rows` and `returning`. */
  | { readonly kind: 'mutation-result'; toField(field: CollectedField): MutationField }
  /** A field of a type of a remote schema. */
  | { readonly kind: 'remote-field'; toOutput(field: CollectedField): RemoteOutput }
  /** A field of the answer of an action. */
  | { readonly kind: 'action-field'; toOutput(field: CollectedField): ActionOutput }
  /** A field of what is told of an asynchronous call. */
  | { readonly kind: 'action-result'; toPart(field: CollectedField): ActionResultPart }
  /** Answered by the field around it. */
  | { readonly kind: 'inner' };

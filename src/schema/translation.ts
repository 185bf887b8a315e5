/**
 * The contract between the engine that walks an operation (fragments, directives, aliases,
 * variables, argument checks, error positions) and the builders of fields, which turn collected
 * fields and typed inputs into IR.
 */
import type { CacheWish } from './directives.ts';
import type { ActionRoot } from '../ir/action.ts';
import type { WrittenItems, WrittenJson } from '../ir/input-validation.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { RemoteRoot } from '../ir/remote.ts';
import type { RemoteJoin } from '../ir/remote-join.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { MembersValue, Value } from '../ir/value.ts';
import type { Json } from '../util/json.ts';
import type { Bytes } from '../util/bytes.ts';
import type { Path } from '../util/path.ts';
import type { Constraint, Variables } from './constraint.ts';
import type { EnumSchemaValue, InputField, InputTypeRef, ObjectType, OutputField, RootTypes } from './types.ts';

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

export type AddRoot = (source: string, field: CollectedField, root: (alias: string) => SourceRoot['root']) => number;

/** The shape of the response: where the results of the roots go. */
export type ResponseNode =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, node: ResponseNode])[] }
  /** Result of `roots[index]`. */
  | { readonly kind: 'root'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly ResponseNode[] }
  | { readonly kind: 'json'; readonly text: string }
  /** Made in slices on first use: introspection. */
  | { readonly kind: 'deferred'; readonly produce: () => Promise<readonly Bytes[]> };

export type TranslatedRoot = SourceRoot | RemoteSchemaRoot | HandlerRoot;

interface AnyRoot {
  /** `$.selectionSet.author`, for errors. */
  readonly path: Path;
  /** Response key of the field, for explain. */
  readonly responseKey: string;
}

/** Answered by a source. */
export interface SourceRoot extends AnyRoot {
  readonly kind: 'source';
  readonly source: string;
  readonly root: SelectRoot | MutationRoot;
}

/** Answered by another server. */
export interface RemoteSchemaRoot extends AnyRoot {
  readonly kind: 'remote';
  readonly remote: string;
  readonly root: RemoteRoot;
  readonly source?: undefined;
}

/** Answered by the handler of an action. */
export interface HandlerRoot extends AnyRoot {
  readonly kind: 'action';
  readonly root: ActionRoot;
  readonly source?: undefined;
}

export interface TranslatedJoin {
  /** Of the field that it answers, as `TranslatedRoot.path`. */
  readonly path: Path;
  readonly target: RemoteJoin;
}

export interface TranslatedOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | null;
  readonly response: ResponseNode;
  readonly roots: readonly TranslatedRoot[];
  /** By the index that holes name. */
  readonly joins: readonly TranslatedJoin[];
  readonly constraints: readonly Constraint[];
  /** False when too much of the variables was looked into: `constraints` are not all, the plan serves this request only. */
  readonly reusable: boolean;
  /** Absent: the answer is not to be kept. */
  readonly cached?: CacheWish;
  /** Parts of variables that were looked into. */
  readonly parts: number;
}

/** What the request pipeline sees of a role's schema. */
export interface RoleSchema {
  readonly role: string;
  /** Its types, lazy as ever: for what shows the schema or checks stored operations. */
  readonly roots: RootTypes;
  /** Nothing may be told of the schema but what the request itself names: see `SvcError.forStrangers`. */
  readonly introspectionDisabled: boolean;
  /**
   * Parses and checks a document once. @throws SvcError validation-failed `not a valid graphql query` at `$.query`
   */
  prepare(query: string, operationName: string | null): PreparedOperation;
}

/** How much an operation asks for, fragments expanded, whatever its directives leave out. */
export interface OperationSize {
  /** Levels of fields; those of introspection do not count. */
  readonly depth: number;
  /** Fields and input values. */
  readonly values: number;
  /** Fields with a selection of their own. */
  readonly objects: number;
  /** Fields with an alias. */
  readonly aliases: number;
}

/** A checked operation of a document; bound to the role schema, reused for every request. */
export interface PreparedOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | null;
  readonly size: OperationSize;
  /** Bytes of the heap that it takes, estimated. */
  readonly memory: number;
  /**
   * Applies defaults and checks presence: missing, null for non-null, unexpected.
   * @param sent `variables` of the request, `{}` when absent
   * @param depth levels of lists and objects that a value has at most; absent: nobody has counted
   * @throws SvcError validation-failed at `$`
   */
  variables(sent: Readonly<Record<string, Json>>, depth?: number): Variables;
  /** Validates the selection and makes the IR. @throws SvcError */
  translate(variables: Variables): TranslatedOperation;
}

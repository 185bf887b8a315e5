/**
 * The contract between the engine that walks an operation (fragments, directives, aliases,
 * variables, argument checks, error positions) and the builders of fields, which turn collected
 * fields and typed inputs into IR.
 */
import type { ActionRoot } from '../ir/action.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { RemoteRoot } from '../ir/remote.ts';
import type { RemoteJoin } from '../ir/remote-join.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { Constraint, Variables } from './constraint.ts';
import type { ResponseNode, RootTypes } from './types.ts';
import type { CacheWish } from './cache-wish.ts';

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

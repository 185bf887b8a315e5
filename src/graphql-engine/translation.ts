/**
 * The contract between the engine, which walks an operation (fragments, directives, aliases, variables, argument checks, error paths), and
 * the builders of fields, which translate collected fields and typed inputs to IR.
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
import type { CacheDirective } from './cache-directive.ts';

export type TranslatedRoot = SourceRoot | RemoteSchemaRoot | HandlerRoot;

interface AnyRoot {
  /** For errors: `$.selectionSet.author`. */
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
  /** Path of the field, as in `TranslatedRoot.path`. */
  readonly path: Path;
  readonly target: RemoteJoin;
}

export interface TranslatedOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | null;
  readonly response: ResponseNode;
  readonly roots: readonly TranslatedRoot[];
  /** Joins by the index in placeholders. */
  readonly joins: readonly TranslatedJoin[];
  readonly constraints: readonly Constraint[];
  /** False if too much of the variables was examined: `constraints` is incomplete, and the plan serves this request only. */
  readonly reusable: boolean;
  /** Undefined if the answer must not be cached. */
  readonly cached?: CacheDirective;
  /** Number of examined parts of variables. */
  readonly parts: number;
  /** Types of fragments that selected nothing: `RoleSchema.requireTypes` checks that they exist. */
  readonly unmatchedTypes: readonly UnmatchedType[];
}

/** A type that a fragment names, and that no selection with such a fragment has. */
export interface UnmatchedType {
  readonly name: string;
  /** Path of the selection set with the first such fragment. */
  readonly path: Path;
}

/** A role's schema, as the request pipeline uses it. */
export interface RoleSchema {
  readonly role: string;
  /** Lazy types, for printing the schema and for checking stored operations. */
  readonly roots: RootTypes;
  /** True if errors may reveal nothing about the schema that the request itself does not contain: see `SvcError`. */
  readonly introspectionDisabled: boolean;
  /** Parses and checks a document once. @throws SvcError validation-failed `not a valid graphql query` at `$.query` */
  prepare(query: string, operationName: string | null): PreparedOperation;
  /**
   * Checks that fragments may be on these types. The first call builds all types, cooperatively, and keeps their names.
   * @throws SvcError validation-failed if one is no object type, interface or union of the schema
   */
  requireTypes(types: readonly UnmatchedType[]): Promise<void>;
}

/** Size of an operation with fragments expanded, regardless of its directives. */
export interface OperationSize {
  /** Levels of fields; those of introspection do not count. */
  readonly depth: number;
  /** Fields and input values. */
  readonly values: number;
  /** Fields with a selection. */
  readonly objects: number;
  /** Fields with an alias. */
  readonly aliases: number;
}

/** A checked operation of a document; belongs to the role schema and is reused for every request. */
export interface PreparedOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | null;
  readonly size: OperationSize;
  /** Estimated heap size, in bytes. */
  readonly memory: number;
  /**
   * Applies defaults and rejects missing, null and unexpected variables.
   * @param sent `variables` of the request, `{}` if absent
   * @param depth maximum levels of lists and objects in a value; absent if not counted
   * @throws SvcError validation-failed at `$`
   */
  variables(sent: Readonly<Record<string, Json>>, depth?: number): Variables;
  /** Validates the selection and returns the IR. @throws SvcError */
  translate(variables: Variables): TranslatedOperation;
}

/**
 * A tracked table as one role sees it, and the types generated for it. Builders of types refer to each other only through this interface,
 * because the types refer to each other in cycles.
 */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { BoolExp, ColumnRead, ComputedFieldRead, Read } from '../../ir/bool-exp.ts';
import type { Relation } from '../../ir/relation.ts';
import type { AggregateField, ConnectionQuery, Field, GroupTerm, KeyField, OrderBy, RowSet } from '../../ir/select.ts';
import type {
  ColumnInfo,
  ComputedFieldInfo,
  QueryRootField,
  RelationshipInfo,
  SubscriptionRootField,
  TableInfo,
} from '../../schema-cache/schema-cache.ts';
import type {
  CollectedField,
  EnumSchemaType,
  InputValue,
  InputField,
  InputObjectType,
  InterfaceType,
  ObjectType,
  OutputField,
} from '../../graphql-engine/types.ts';
import type { FunctionArguments } from './function-arguments.ts';
import type { GroupParts } from './group-parts.ts';
import type { SourceContext } from './source-context.ts';
import type { FunctionCall } from '../../ir/function-call.ts';
import type { ValuePlace } from './value-place.ts';

/** A role's access to a table. */
export interface TableAccess {
  /** `null` for every column and computed field, without masks (admin). */
  readonly columns: ReadonlyMap<string, BoolExp | null> | null;
  readonly computedFields: ReadonlyMap<string, BoolExp | null> | null;
  readonly filter: BoolExp;
  readonly limit: number | null;
  readonly allowAggregations: boolean;
  readonly queryRootFields: ReadonlySet<QueryRootField> | null;
  readonly subscriptionRootFields: ReadonlySet<SubscriptionRootField> | null;
}

export interface RoleColumn {
  readonly info: ColumnInfo;
  readonly name: string;
  readonly read: ColumnRead;
  readonly place: ValuePlace;
  readonly nullable: boolean;
}

export interface RoleRelationship {
  readonly info: RelationshipInfo;
  readonly name: string;
  readonly target: RoleTable;
}

interface RoleComputedFieldBase {
  readonly info: ComputedFieldInfo;
  readonly name: string;
  readonly description: string | null;
  readonly arguments: FunctionArguments;
}

export interface ScalarComputedField extends RoleComputedFieldBase {
  readonly kind: 'scalar';
  readonly place: ValuePlace;
  read(call: FunctionCall): ComputedFieldRead;
}

export interface TableComputedField extends RoleComputedFieldBase {
  readonly kind: 'table';
  readonly target: RoleTable;
}

export type RoleComputedField = ScalarComputedField | TableComputedField;

/** `T`: the fields of a row. */
export interface RowType {
  readonly type: ObjectType;
  /** @param parent a field whose type is `T` */
  fields(parent: CollectedField): readonly Field[];
}

/** `distinct_on`, `limit`, `offset`, `order_by`, `where`. */
export interface SelectArguments {
  readonly args: ReadonlyMap<string, InputField>;
  /**
   * Returns the rows that the role sees, narrowed by the arguments of a field. `limit` is the argument alone, without the permission's
   * limit.
   */
  rows(field: CollectedField): RowSet;
}

export interface BoolExpType {
  readonly type: InputObjectType;
  condition(input: InputValue): BoolExp;
}

export interface OrderByType {
  readonly type: InputObjectType;
  /** Returns the terms of one input object, in the order of the request. */
  terms(input: InputValue): readonly OrderBy[];
  /** True if the role can order by nothing, so that the argument is omitted. */
  readonly empty: boolean;
}

export interface AggregateOrderByType {
  readonly type: InputObjectType;
  /** @param wrap returns the term of an aggregate over the rows */
  terms<Term>(input: InputValue, wrap: (functionName: string, reads: readonly Read[]) => Term): readonly OrderBy<Term>[];
}

/** `T_aggregate_group_key`. */
export interface GroupKeyType {
  readonly type: ObjectType;
  /** `T_aggregate_group_key_order_by` */
  readonly order: InputObjectType;
  /**
   * @param parts receives the parts of the selection
   * @param at place of a related row in the key. Default: the grouped row
   */
  fields(parent: CollectedField, parts: GroupParts, at?: KeyPlace): readonly KeyField[];
  /** Returns the order of one input object. @throws SvcError for a part that is not selected */
  terms(input: InputValue, parts: GroupParts, at?: KeyPlace): readonly OrderBy<GroupTerm>[];
}

/** A row whose values are in a key. */
export interface KeyPlace {
  /** Index among the related rows; `null` for the grouped row. */
  readonly row: number | null;
  /** Names of the relationships that lead to it. */
  readonly names: readonly string[];
}

/** `T_aggregate`. */
export interface AggregateType {
  readonly type: ObjectType;
  fields(parent: CollectedField): readonly AggregateField[];
}

/** `<rel>_aggregate` in `where`. */
export interface AggregatePredicateType {
  readonly type: InputObjectType;
  predicate(input: InputValue, relationship: RelationshipInfo): BoolExp;
}

/** A table whose rows are nodes of Relay. */
export interface NodeTable {
  readonly interface: () => InterfaceType;
  /** The first items of the ids of its rows: a version, and the names of the table. */
  readonly names: readonly (string | number)[];
  /** The primary key in its order, whether or not the role may select it. */
  readonly key: readonly NodeColumn[];
}

export interface NodeColumn {
  /** Name in cursors. */
  readonly name: string;
  readonly read: ColumnRead;
}

/** `TConnection`. */
export interface ConnectionType {
  readonly type: ObjectType;
  readonly args: ReadonlyMap<string, InputField>;
  query(field: CollectedField, from: Relation): ConnectionQuery;
}

export interface RoleTable {
  readonly source: SourceContext;
  readonly info: TableInfo;
  readonly access: TableAccess;
  /** False if the row type would have no fields: the role may only count rows. */
  readonly hasRows: boolean;
  /** `T`. */
  readonly name: string;
  readonly relation: Relation;
  /** Columns by GraphQL name, in catalog order. */
  readonly columns: ReadonlyMap<string, RoleColumn>;
  readonly relationships: readonly RoleRelationship[];
  readonly computedFields: readonly RoleComputedField[];
  readonly rows: () => RowType;
  /** `null` outside of Relay's schema, and for tables without a primary key. */
  readonly node: NodeTable | null;
  /** For tables with `node`. */
  readonly connection: () => ConnectionType;
  readonly selectArguments: () => SelectArguments;
  readonly boolExp: () => BoolExpType;
  readonly orderBy: () => OrderByType;
  readonly aggregateOrderBy: () => AggregateOrderByType;
  readonly aggregate: () => AggregateType;
  /** For tables with a column to group by. */
  readonly groupKey: () => GroupKeyType;
  readonly aggregatePredicate: () => AggregatePredicateType;
  /** `T_select_column`; null if the role sees no columns. The value of an enum value is its GraphQL name. */
  readonly selectColumn: () => EnumSchemaType | null;
  /** Returns another table of the source, null if the role may not select from it. */
  related(name: QualifiedName): RoleTable | null;
  /** Returns fields that other sources and remote schemas answer. */
  joinedFields(): readonly OutputField[];
}

/** Returns the name of a type about the table. */
export function roleTypeName(table: RoleTable, ...suffixes: readonly string[]): string {
  return table.source.tableType(table.info, ...suffixes);
}

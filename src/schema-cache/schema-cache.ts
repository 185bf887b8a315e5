/**
 * Metadata joined with catalogs: resolved and read-only. Names are checked, relationships have their columns, permission filters are IR.
 * Unresolvable objects are in `inconsistencies`.
 */
import type { QueryTagsSettings } from '../metadata/query-tags.ts';
import type { Backend } from '../backend/backend.ts';
import type { CatalogFunction, CatalogTable, CatalogColumn, CatalogType, QualifiedName } from '../catalog/catalog.ts';
import type { ErrorCode } from '../errors/codes.ts';
import type { BoolExp } from '../ir/bool-exp.ts';
import type { Join } from '../ir/relation.ts';
import type { Operand } from '../ir/value.ts';
import type { Json } from '../util/json.ts';
import type { EventTrigger } from '../metadata/event-trigger.ts';
import type { ApiLimits } from '../metadata/api-limits.ts';
import type { RemoteNames } from '../remote-schema/customization.ts';
import type { RemoteModel } from '../remote-schema/model.ts';
import type { NamingConvention, SourceCustomization } from '../metadata/source.ts';
import type { CustomRootField, TableConfiguration } from '../metadata/table.ts';
import type { ValidateInput } from '../metadata/validate-input.ts';
import type { ActionInfo, CustomTypesInfo } from './action-info.ts';
import type { UnavailableSources } from './unavailable-source.ts';

export interface SchemaCache {
  readonly sources: ReadonlyMap<string, SourceInfo>;
  /** Settings of the sources whose statements have tags. */
  readonly queryTags: ReadonlyMap<string, QueryTagsSettings>;
  /** If true, roles see only the parts of remote schemas for which they have a permission; otherwise permissions have no effect. */
  readonly remotePermissionsEnabled: boolean;
  /** Remote schemas that are part of the schema, by name, in the order of the metadata. */
  readonly remoteSchemas: ReadonlyMap<string, RemoteSchemaInfo>;
  /** Relationships of tables to other sources and remote schemas: by source, then by the `nameKey` of the table, then by name. */
  readonly remoteRelationships: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>;
  /** Relationships of object types of remote schemas: by remote schema, then by the server's type name, then by name. */
  readonly remoteTypeRelationships: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>;
  /** Types of arguments and answers of actions, including the database scalars that they use. */
  readonly customTypes: CustomTypesInfo;
  /** Relationships of custom object types: by type, then by name. */
  readonly customTypeRelationships: ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>;
  /** Actions that are part of the schema, by name, in the order of the metadata. */
  readonly actions: ReadonlyMap<string, ActionInfo>;
  /** Operators that a comparison type lacks, by type name: those that none of the database types behind it has. */
  readonly unsupportedOperators: ReadonlyMap<string, readonly string[]>;
  /** Every role of the metadata, without admin. */
  readonly roles: ReadonlySet<string>;
  readonly inconsistencies: readonly Inconsistency[];
  /** Roles for which `__schema` and `__type` fail. */
  readonly introspectionDisabledFor: ReadonlySet<string>;
  readonly apiLimits: ApiLimits | null;
  /** Sources of the metadata that cannot be opened. */
  readonly unavailable: UnavailableSources;
}

export interface SourceInfo {
  readonly name: string;
  readonly backend: Backend;
  readonly customization: SourceCustomization;
  /** The source's own convention, or the server's default. */
  readonly namingConvention: NamingConvention;
  /** Tracked tables by `nameKey`. */
  readonly tables: ReadonlyMap<string, TableInfo>;
  readonly functions: ReadonlyMap<string, FunctionInfo>;
  /** Working triggers of all tables, by name. An entry is the same object while the trigger and its table are the same. */
  readonly eventTriggers: ReadonlyMap<string, EventTriggerInfo>;
}

/** An event trigger whose columns and environment variables exist. */
export interface EventTriggerInfo {
  readonly source: string;
  readonly definition: EventTrigger;
  readonly table: CatalogTable;
}

/** A tracked table that exists: its own definition, without relationships and permissions. */
export interface TableCore {
  readonly source: string;
  readonly name: QualifiedName;
  readonly catalog: CatalogTable;
  readonly configuration: TableConfiguration;
  /** `custom_name`, or the table's name with its schema unless that is the default; not re-cased. */
  readonly baseName: string;
  /** True if `baseName` comes from the metadata and so is never re-cased. */
  readonly customName: boolean;
  /** False if the table is tracked but absent from GraphQL because its name is not a GraphQL name. */
  readonly inGraphql: boolean;
  /** True if its rows are entities of a federated graph, for a service that takes part in one. */
  readonly federated: boolean;
  /** Sorted values of an enum table; null for other tables. */
  readonly enumValues: readonly EnumValue[] | null;
}

export interface TableInfo extends TableCore {
  /** Columns with a valid GraphQL name, by database name, in catalog order. */
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  /** Sorted by name. */
  readonly relationships: ReadonlyMap<string, RelationshipInfo>;
  readonly computedFields: ReadonlyMap<string, ComputedFieldInfo>;
  /** Permissions by role, without admin. */
  readonly permissions: ReadonlyMap<string, RolePermissions>;
}

export interface ColumnInfo {
  readonly name: string;
  /** `custom_name` of the column, or its database name; not re-cased. */
  readonly fieldName: string;
  readonly customName: boolean;
  /** `null` for no description, undefined for the automatic one. */
  readonly comment: string | null | undefined;
  readonly catalog: CatalogColumn;
  /** The enum table that this column references. */
  readonly enumTable: QualifiedName | null;
}

export interface EnumValue {
  readonly value: string;
  readonly description: string | null;
}

export interface RelationshipInfo {
  readonly name: string;
  readonly kind: 'object' | 'array';
  readonly comment: string | undefined;
  readonly target: QualifiedName;
  readonly join: Join;
  /** False if the target has a row for every row of the table. A role may not see that row. */
  readonly nullable: boolean;
  readonly insertionOrder: 'before-parent' | 'after-parent';
}

export interface ComputedFieldInfo {
  readonly name: string;
  readonly comment: string | undefined;
  readonly function: CatalogFunction;
  /** Index of the table argument in `function.arguments`; null for functions that take values of columns. */
  readonly tableArgument: number | null;
  /** Columns by the index of the argument that takes their value. */
  readonly columnArguments?: ReadonlyMap<number, string>;
  readonly sessionArgument: number | null;
  readonly returns: { readonly kind: 'scalar'; readonly type: CatalogType } | { readonly kind: 'table'; readonly table: QualifiedName };
}

/** A relationship of a table, of a type of a remote schema, or of a custom type. */
export interface RemoteRelationshipInfo {
  readonly name: string;
  readonly target: SourceTarget | RemoteSchemaTarget;
}

export interface SourceTarget {
  readonly kind: 'source';
  readonly source: string;
  readonly table: QualifiedName;
  readonly relationship: 'object' | 'array';
  /** `local` is a column, a scalar computed field or a field of the type; `remote` is a column of the target. */
  readonly columns: readonly { readonly local: string; readonly remote: string }[];
}

export interface RemoteSchemaTarget {
  readonly kind: 'remote-schema';
  readonly remoteSchema: string;
  /** Columns, scalar computed fields or fields of the key. */
  readonly keys: readonly string[];
  /** Path from a root field of queries to the field with the answer, in the server's names. */
  readonly path: readonly RemotePathField[];
  readonly batch?: { readonly matchField: string; readonly many: boolean };
}

export interface RemotePathField {
  readonly name: string;
  readonly arguments: ReadonlyMap<string, RemoteArgumentTree>;
}

/** An argument in the definition of a relationship. */
export type RemoteArgumentTree =
  | { readonly kind: 'literal'; readonly json: Json }
  /** The part of the key with this index in `keys`. */
  | { readonly kind: 'key'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly RemoteArgumentTree[] }
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, RemoteArgumentTree> };

/** A GraphQL server that is part of the schema. */
export interface RemoteSchemaInfo {
  readonly name: string;
  readonly model: RemoteModel;
  readonly names: RemoteNames;
  /** The parts that roles see; `null` if every role sees everything, because permissions are disabled. */
  readonly permissions: ReadonlyMap<string, RemoteModel> | null;
}

export interface FunctionInfo {
  readonly source: string;
  readonly name: QualifiedName;
  readonly catalog: CatalogFunction;
  readonly customName: string | undefined;
  readonly customRootFields: ReadonlyMap<'function' | 'function_aggregate', CustomRootField>;
  readonly comment: string | undefined;
  readonly exposedAs: 'query' | 'mutation';
  readonly sessionArgument: number | null;
  readonly returns: QualifiedName;
  /** Roles with an explicit permission, and inherited roles with one from a parent. */
  readonly permissions: ReadonlySet<string>;
}

export interface RolePermissions {
  readonly select?: ResolvedSelectPermission;
  readonly insert?: ResolvedInsertPermission;
  readonly update?: ResolvedUpdatePermission;
  readonly delete?: ResolvedDeletePermission;
}

export type QueryRootField = 'select' | 'select_by_pk' | 'select_aggregate';
export type SubscriptionRootField = QueryRootField | 'select_stream';

export interface ResolvedSelectPermission {
  /** Selectable columns by database name; the value is the cell mask or null. */
  readonly columns: ReadonlyMap<string, BoolExp | null>;
  readonly computedFields: ReadonlyMap<string, BoolExp | null>;
  readonly filter: BoolExp;
  readonly limit: number | null;
  readonly allowAggregations: boolean;
  /** `null` for all. */
  readonly queryRootFields: ReadonlySet<QueryRootField> | null;
  readonly subscriptionRootFields: ReadonlySet<SubscriptionRootField> | null;
}

/** A value that the role cannot choose. */
export type Preset = Operand;

export interface ResolvedInsertPermission {
  readonly columns: ReadonlySet<string>;
  readonly check: BoolExp;
  readonly presets: ReadonlyMap<string, Preset>;
  readonly backendOnly: boolean;
  readonly validateInput: ValidateInput | null;
}

export interface ResolvedUpdatePermission {
  readonly columns: ReadonlySet<string>;
  readonly filter: BoolExp;
  readonly check: BoolExp | null;
  readonly presets: ReadonlyMap<string, Preset>;
  readonly backendOnly: boolean;
  readonly validateInput: ValidateInput | null;
}

export interface ResolvedDeletePermission {
  readonly filter: BoolExp;
  readonly backendOnly: boolean;
  readonly validateInput: ValidateInput | null;
}

/** Error of a change that causes an inconsistency. */
export interface InconsistencyRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly internal?: Json;
  /** Restricts the error to operations on the object (`edited`) or on other objects (`others`); otherwise the general rule applies. */
  readonly of?: 'edited' | 'others';
}

/** A record of `get_inconsistent_metadata`. */
export interface Inconsistency {
  /** Stable identity of the object, to compare records before and after a change. */
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  readonly definition: Json;
  readonly message?: Json;
  /** Printed instead of the other properties: `Conflicting objects`, duplicates and inherited permissions have their own shape. */
  readonly record?: Json;
  /** Error of a change that causes the inconsistency; the general rule by default. */
  readonly refusal?: InconsistencyRefusal;
  /** If true, the object is a source whose database cannot be reached. */
  readonly isUnreachable?: boolean;
  /** If true, changes are never refused because of it: conflicts of inherited permissions. */
  readonly informational?: boolean;
  /** If true, changes succeed with a warning: invalid queries, and rules that rename nothing. */
  readonly tolerated?: boolean;
}

/**
 * Metadata joined with catalogs: resolved, read-only. Names are checked, relationships have their
 * columns, permission filters are IR. What could not be resolved is in `inconsistencies`.
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
  /** Of the sources whose statements say which operation they are of. */
  readonly queryTags: ReadonlyMap<string, QueryTagsSettings>;
  /** Whether roles see of remote schemas only what they are granted; permissions have no effect otherwise. */
  readonly remotePermissionsEnabled: boolean;
  /** Those that are part of the schema, by name, in the order of the metadata. */
  readonly remoteSchemas: ReadonlyMap<string, RemoteSchemaInfo>;
  /** From tables to other sources and remote schemas: by source, then by the `nameKey` of the table, then by name. */
  readonly remoteRelationships: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>;
  /** From object types of remote schemas: by remote schema, then by the server's name of the type, then by name. */
  readonly remoteTypeRelationships: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>>;
  /** Types of arguments and answers of actions; scalars of databases that these use are among them. */
  readonly customTypes: CustomTypesInfo;
  /** From custom object types: by type, then by name. */
  readonly customTypeRelationships: ReadonlyMap<string, ReadonlyMap<string, RemoteRelationshipInfo>>;
  /** Those that are part of the schema, by name, in the order of the metadata. */
  readonly actions: ReadonlyMap<string, ActionInfo>;
  /** Operators that a comparison type of databases does not have, by its name: those that none of its types has. */
  readonly lacking: ReadonlyMap<string, readonly string[]>;
  /** Every role known to the metadata, without admin. */
  readonly roles: ReadonlySet<string>;
  readonly inconsistencies: readonly Inconsistency[];
  /** Roles for which `__schema` and `__type` fail. */
  readonly introspectionDisabledFor: ReadonlySet<string>;
  readonly apiLimits: ApiLimits | null;
  /** Sources that are in the metadata and cannot be opened. */
  readonly unavailable: UnavailableSources;
}

export interface SourceInfo {
  readonly name: string;
  readonly backend: Backend;
  readonly customization: SourceCustomization;
  /** Effective: the source's own, else the server's default. */
  readonly namingConvention: NamingConvention;
  /** Tracked tables by `nameKey`. */
  readonly tables: ReadonlyMap<string, TableInfo>;
  readonly functions: ReadonlyMap<string, FunctionInfo>;
  /** Of all tables, by name: those that work. The same object while the trigger and its table are the same. */
  readonly eventTriggers: ReadonlyMap<string, EventTriggerInfo>;
}

/** An event trigger whose columns and environment variables are there. */
export interface EventTriggerInfo {
  readonly source: string;
  readonly definition: EventTrigger;
  readonly table: CatalogTable;
}

/** A tracked table that exists: what its own definition says, before anything about its neighbours. */
export interface TableCore {
  readonly source: string;
  readonly name: QualifiedName;
  readonly catalog: CatalogTable;
  readonly configuration: TableConfiguration;
  /** `custom_name`, else the table's name with its schema unless default: before any convention. */
  readonly baseName: string;
  /** Whether `baseName` came from the metadata and so is never re-cased. */
  readonly customName: boolean;
  /** False: tracked, but absent from GraphQL because the name is no GraphQL name. */
  readonly inGraphql: boolean;
  /** Its rows are entities of a federated graph, where the service takes part in one. */
  readonly federated: boolean;
  /** Set when the table is an enum table; values sorted. */
  readonly enumValues: readonly EnumValue[] | null;
}

export interface TableInfo extends TableCore {
  /** Columns whose GraphQL name is legal, by database name, in catalog order. */
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  /** By name, in name order. */
  readonly relationships: ReadonlyMap<string, RelationshipInfo>;
  readonly computedFields: ReadonlyMap<string, ComputedFieldInfo>;
  /** Roles without admin. */
  readonly permissions: ReadonlyMap<string, RolePermissions>;
}

export interface ColumnInfo {
  readonly name: string;
  /** `custom_name` of the column, else its database name: before any convention. */
  readonly fieldName: string;
  readonly customName: boolean;
  /** null: no description; undefined: automatic. */
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
  /** False: the target has a row for every row of the table. Whether a role sees it is another question. */
  readonly nullable: boolean;
  readonly insertionOrder: 'before-parent' | 'after-parent';
}

export interface ComputedFieldInfo {
  readonly name: string;
  readonly comment: string | undefined;
  readonly function: CatalogFunction;
  /** Index of the table argument in `function.arguments`; null where it takes values of columns. */
  readonly tableArgument: number | null;
  /** Columns by the index of the argument that takes their value. */
  readonly columnArguments?: ReadonlyMap<number, string>;
  readonly sessionArgument: number | null;
  readonly returns: { readonly kind: 'scalar'; readonly type: CatalogType } | { readonly kind: 'table'; readonly table: QualifiedName };
}

/** From a table, from a type of a remote schema, or from a custom type. */
export interface RemoteRelationshipInfo {
  readonly name: string;
  readonly target: SourceTarget | RemoteSchemaTarget;
}

export interface SourceTarget {
  readonly kind: 'source';
  readonly source: string;
  readonly table: QualifiedName;
  readonly relationship: 'object' | 'array';
  /** `local` is a column or a scalar computed field, or a field of the type; `remote` a column of the target. */
  readonly columns: readonly { readonly local: string; readonly remote: string }[];
}

export interface RemoteSchemaTarget {
  readonly kind: 'remote-schema';
  readonly remoteSchema: string;
  /** Columns, scalar computed fields or fields that make up the key. */
  readonly keys: readonly string[];
  /** From a root field of queries to the field that answers, in the server's words. */
  readonly path: readonly RemotePathField[];
  readonly batch?: { readonly matchField: string; readonly many: boolean };
}

export interface RemotePathField {
  readonly name: string;
  readonly arguments: ReadonlyMap<string, RemoteArgumentTree>;
}

/** An argument as the definition of a relationship writes it. */
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
  /** What roles see of it; null: every role sees all, because permissions are switched off. */
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
  /** Roles with an explicit permission, and inherited roles that have one from a parent. */
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
  /** null: all */
  readonly queryRootFields: ReadonlySet<QueryRootField> | null;
  readonly subscriptionRootFields: ReadonlySet<SubscriptionRootField> | null;
}

/** A preset: a value that the role cannot choose. */
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

/** How a change that causes an inconsistency is refused. */
export interface InconsistencyRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly internal?: Json;
  /** Only where the command is about the object (`edited`), or about another one (`others`); else the general rule holds. */
  readonly of?: 'edited' | 'others';
}

/** One record of `get_inconsistent_metadata`. */
export interface Inconsistency {
  /** Stable identity of the object, to compare records before and after a change. */
  readonly objectId: string;
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  readonly definition: Json;
  readonly message?: Json;
  /** `Conflicting objects`, duplicates and inherited permissions have their own shape; printed instead. */
  readonly record?: Json;
  /** How a change that causes it is refused, where that is not by the general rule. */
  readonly refusal?: InconsistencyRefusal;
  /** Never a reason to refuse a change: conflicts of inherited permissions. */
  readonly informational?: boolean;
  /** Never a reason to refuse a change, which answers with a warning: invalid queries, and rules that rename nothing. */
  readonly tolerated?: true;
}

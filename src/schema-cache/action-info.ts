/** Resolved custom types and actions. */
import type { TypeSystem } from '../backend/type-system.ts';
import type { CatalogType } from '../catalog/catalog.ts';
import type { ActionDefinition, ActionKind } from '../metadata/action.ts';
import type { CustomEnumValue, CustomField } from '../metadata/custom-types.ts';
import type { GraphqlType } from '../metadata/graphql-type.ts';
import type { NamingConvention } from '../metadata/source.ts';

export type CustomTypeInfo = CustomScalarInfo | CustomEnumInfo | CustomInputObjectInfo | CustomObjectInfo | DatabaseScalarInfo;

interface AnyCustomType {
  readonly name: string;
  readonly description: string | null;
}

export interface CustomScalarInfo extends AnyCustomType {
  readonly kind: 'scalar';
}

export interface CustomEnumInfo extends AnyCustomType {
  readonly kind: 'enum';
  readonly values: readonly CustomEnumValue[];
}

export interface CustomInputObjectInfo extends AnyCustomType {
  readonly kind: 'input-object';
  readonly fields: readonly CustomField[];
}

export interface CustomObjectInfo extends AnyCustomType {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, CustomField>;
}

/** A scalar of a database, by its GraphQL name. */
export interface DatabaseScalarInfo extends AnyCustomType {
  readonly kind: 'database-scalar';
  readonly types: TypeSystem;
  readonly namingConvention: NamingConvention;
  readonly type: CatalogType;
}

/** The scalars of the GraphQL specification. */
export const PLAIN_SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** Types of arguments and answers of actions by name, without the scalars of the GraphQL specification. */
export type CustomTypesInfo = ReadonlyMap<string, CustomTypeInfo>;

export interface ActionInfo {
  readonly name: string;
  readonly comment: string | undefined;
  readonly kind: ActionKind;
  readonly definition: ActionDefinition;
  readonly arguments: readonly CustomField[];
  readonly output: GraphqlType;
  /** Roles without admin, including inherited ones. */
  readonly permissions: ReadonlySet<string>;
}

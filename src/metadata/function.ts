import type { QualifiedName } from '../catalog/catalog.ts';
import type { CustomRootField } from './table.ts';

export interface FunctionConfiguration {
  readonly customName?: string;
  readonly customRootFields: ReadonlyMap<'function' | 'function_aggregate', CustomRootField>;
  readonly sessionArgument?: string;
  readonly exposedAs?: 'query' | 'mutation';
}

export interface FunctionMetadata {
  readonly function: QualifiedName;
  readonly configuration: FunctionConfiguration;
  readonly permissions: readonly string[];
  readonly comment?: string;
}

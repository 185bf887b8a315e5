import type { QualifiedName } from '../catalog/catalog.ts';

export interface ComputedField {
  readonly name: string;
  readonly function: QualifiedName;
  readonly tableArgument?: string;
  readonly sessionArgument?: string;
  readonly comment?: string;
}

import type { CatalogType } from '../../catalog/catalog.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import { Defect } from '../inconsistency.ts';
import type { StageSource } from './lookups.ts';

/** @throws Defect if the name of the type is not a valid GraphQL scalar name */
export function requireScalar(source: StageSource, type: CatalogType): void {
  if (isGraphqlName(source.backend.types.scalar(type).graphql)) return;
  const message = `cannot use SQL type "${type.name}" in the GraphQL schema because its name is not a valid GraphQL identifier`;
  throw new Defect(message, { code: 'validation-failed', message });
}

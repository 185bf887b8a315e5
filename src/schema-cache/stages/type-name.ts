import type { CatalogType } from '../../catalog/catalog.ts';
import { isGraphqlName } from '../../metadata/graphql-name.ts';
import { Defect } from '../inconsistency.ts';
import type { StageSource } from './scope.ts';

/** @throws Defect when the type has no scalar in GraphQL, because of its name */
export function requireScalar(source: StageSource, type: CatalogType): void {
  if (isGraphqlName(source.backend.types.scalar(type).graphql)) return;
  const message = `cannot use SQL type "${type.name}" in the GraphQL schema because its name is not a valid GraphQL identifier`;
  throw new Defect(message, { code: 'validation-failed', message });
}

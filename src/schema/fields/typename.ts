import type { TypenameField } from '../../ir/select.ts';
import type { CollectedField } from '../../graphql-engine/types.ts';

/** Translates `__typename`, which has no field of its own. */
export function typenameField({ responseKey, typeName }: CollectedField): TypenameField {
  return { kind: 'typename', alias: responseKey, typeName };
}

import type { ActionAnswer } from '../../ir/action.ts';
import { type GraphqlType, namedTypeIn } from '../../metadata/graphql-type.ts';
import { type CustomTypesInfo, PLAIN_SCALARS } from '../../schema-cache/action-info.ts';

/** Returns the checks of a handler's answer. */
export function expectationOf(type: GraphqlType, types: CustomTypesInfo): ActionAnswer['expects'] {
  const name = namedTypeIn(type);
  const info = types.get(name);
  if (info?.kind === 'object') {
    return { kind: 'object', required: [...info.fields.values()].filter((field) => field.type.nonNull).map((field) => field.name) };
  }
  return PLAIN_SCALARS.has(name) ? { kind: 'plain-scalar', name } : { kind: 'anything' };
}

/** Checks the types that fragments name. */
import { SvcError } from '../errors/svc-error.ts';
import { SCHEMA } from './introspection/meta-types.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { startYieldTimer } from './introspection/yield-timer.ts';
import { suggest } from './suggestions.ts';
import type { RoleSchema } from './translation.ts';
import type { NamedType, RootTypes } from './types.ts';

/**
 * Returns the check of a role schema.
 * @param roots builds the roots to walk; their types are released after the walk, only their names are kept
 */
export function fragmentTypeCheck(roots: () => RootTypes): RoleSchema['requireTypes'] {
  let names: Promise<ReadonlySet<string>> | undefined;
  const readNames = async (): Promise<ReadonlySet<string>> => {
    try {
      const types = await createTypeWalk(roots(), [SCHEMA], (type) => !isComposite(type)).all(startYieldTimer());
      return new Set(types.map(({ name }) => name));
    } catch (error) {
      names = undefined;
      throw error;
    }
  };
  return async (types) => {
    names ??= readNames();
    const known = await names;
    for (const { name, path } of types) {
      if (known.has(name)) continue;
      throw new SvcError('validation-failed', `no object type, interface or union is named '${name}'`, {
        path,
        ...suggest(name, () => known),
      });
    }
  };
}

function isComposite({ kind }: NamedType): boolean {
  return kind === 'object' || kind === 'interface' || kind === 'union';
}

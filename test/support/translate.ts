/** Translates a query document through a role schema to IR. */
import type { SchemaCache } from '../../src/schema-cache/schema-cache.ts';
import {
  createRoleSchemas,
  DEFAULT_ROLE_SCHEMAS_OPTIONS,
  type RoleSchemasOptions,
  type SchemaVariant,
} from '../../src/schema/role-schemas.ts';
import type { TranslatedOperation } from '../../src/graphql-engine/translation.ts';
import type { Json } from '../../src/util/json.ts';

export interface TranslateOptions {
  readonly role?: string;
  readonly variant?: SchemaVariant;
  readonly variables?: Readonly<Record<string, Json>>;
  readonly options?: RoleSchemasOptions;
}

export function translate(cache: SchemaCache, query: string, how: TranslateOptions = {}): TranslatedOperation {
  const schema = createRoleSchemas(cache, how.options ?? DEFAULT_ROLE_SCHEMAS_OPTIONS).get(how.role ?? 'admin', how.variant ?? 'frontend');
  const prepared = schema.prepare(query, null);
  return prepared.translate(prepared.variables(how.variables ?? {}));
}

/** `path: message` of the error that a call throws. */
export function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    const { printedPath, message } = error as { readonly printedPath?: string; readonly message: string };
    return printedPath === undefined ? `unexpected: ${message}` : `${printedPath}: ${message}`;
  }
  return 'no error';
}

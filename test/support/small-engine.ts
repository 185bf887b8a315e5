import { textOfBytes } from '../../src/util/bytes.ts';
/** The schema engine over the small schema, for tests that inspect its results. */
import { createRoleSchema, DEFAULT_LIMITS, type RoleSchemaOptions } from '../../src/graphql-engine/engine.ts';
import { createAnswerCache } from '../../src/graphql-engine/introspection/cache.ts';
import { SvcError } from '../../src/errors/svc-error.ts';
import type { TranslatedOperation } from '../../src/graphql-engine/translation.ts';
import type { RootTypes } from '../../src/graphql-engine/types.ts';
import type { Json } from '../../src/util/json.ts';
import { type Seen, SMALL_ROOTS } from './small-schema.ts';

export interface Asked {
  readonly variables?: Readonly<Record<string, Json>>;
  readonly operationName?: string;
  readonly roots?: RootTypes;
  readonly options?: Partial<RoleSchemaOptions>;
}

export function engine(options: Partial<RoleSchemaOptions> = {}, roots: RootTypes = SMALL_ROOTS) {
  return createRoleSchema('user', roots, {
    introspectionDisabled: false,
    introspectionAnswers: createAnswerCache(1024 * 1024),
    limits: DEFAULT_LIMITS,
    nullInNonNullableVariables: false,
    ...options,
  });
}

/** Prepares, binds and translates. */
export function translate(query: string, asked: Asked = {}): TranslatedOperation {
  const prepared = engine(asked.options, asked.roots).prepare(query, asked.operationName ?? null);
  return prepared.translate(prepared.variables(asked.variables ?? {}));
}

/** The arguments and selections that the roots of an operation received. */
export function seen(operation: TranslatedOperation): readonly Seen[] {
  return operation.roots.map(({ root }) => root.query as unknown as Seen);
}

/** `code message @ path` of the error. */
export function refusal(query: string, asked: Asked = {}): string {
  return refusalOf(() => translate(query, asked));
}

export function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return `${error.code}: ${error.message} @ ${error.printedPath}`;
    throw error;
  }
  return 'accepted';
}

/** The whole answer of an operation without source roots. */
export async function answer(operation: TranslatedOperation): Promise<unknown> {
  const text = async (node: TranslatedOperation['response']): Promise<string> => {
    if (node.kind === 'json') return node.text;
    if (node.kind === 'deferred') return textOfBytes(await node.produce());
    if (node.kind === 'root') return JSON.stringify(`root ${node.index}`);
    if (node.kind === 'list') return `[${(await Promise.all(node.items.map(text))).join()}]`;
    const entries = await Promise.all(node.entries.map(async ([key, child]) => `${JSON.stringify(key)}:${await text(child)}`));
    return `{${entries.join()}}`;
  };
  return JSON.parse(await text(operation.response)) as unknown;
}

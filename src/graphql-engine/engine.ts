/** Makes the schema of a role from its root types: the entrance to documents, variables, selections and introspection. */
import { type FieldNode, Kind, type OperationDefinitionNode } from 'graphql';
import { SvcError } from '../errors/svc-error.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import type { Variables } from './constraint.ts';
import { cacheWish } from './directives.ts';
import { checkDocument } from './document/check.ts';
import { readDocument } from './document.ts';
import { createConstraintRecorder, type InputContext } from './input/context.ts';
import { createJoinList } from './join-list.ts';
import { introspectionFields } from './introspection.ts';
import { translateOperation } from './operation.ts';
import type { SelectionContext, SelectionParent } from './selection.ts';
import type { PreparedOperation, RoleSchema } from './translation.ts';
import type { RootTypes } from './types.ts';
import { declareVariables, variableBinder } from './variables.ts';

export interface OperationLimits {
  /** Tokens of a document. */
  readonly maxTokens: number;
  /** Levels of fields, fragments, lists and input objects, fragments expanded; also of a variable's value. */
  readonly maxDepth: number;
  /** Fields and input values, fragments expanded. */
  readonly maxValues: number;
  /** Fields with a selection of their own, fragments expanded: what costs most to plan. */
  readonly maxObjects: number;
  /** Fields with an alias, fragments expanded. */
  readonly maxAliases: number;
  /** Size of the variables that are read more than once, each as often as it is read: see `jsonSizeWithin`. */
  readonly maxRepeatedSize: number;
  /** Characters of an introspection answer. */
  readonly maxIntrospectionCharacters: number;
}

export const DEFAULT_LIMITS: OperationLimits = {
  maxTokens: 50_000,
  maxDepth: 200,
  maxValues: 20_000,
  maxObjects: 1_000,
  maxAliases: 1_000,
  maxRepeatedSize: 16 * 1024 * 1024,
  maxIntrospectionCharacters: 128 * 1024 * 1024,
};

/**
 * What becomes of a nullable variable that was not sent and has no default: the argument or key that it stands for is left out, as
 * the GraphQL specification says, everywhere (`absent`), or everywhere but inside of conditions, where it is null and so refused
 * (`absent-from-data`, the default); or it is null (`null`).
 */
export type UnsentVariables = 'absent-from-data' | 'absent' | 'null';

export interface RoleSchemaOptions {
  /** Why the roots lack a field that the role knows; null: it is unknown. */
  readonly explainMissing?: (field: string, path: Path, operation: PreparedOperation['kind']) => SvcError | null;
  readonly introspectionDisabled: boolean;
  /** Makes the roots anew, for introspection of the whole: it needs every type, and nothing else does. */
  readonly wholeRoots?: () => RootTypes;
  readonly limits: OperationLimits;
  /** Lets null through to the field where a variable is declared `T!`. */
  readonly nullInNonNullableVariables: boolean;
  readonly unsentVariables?: UnsentVariables;
  /** Subscriptions may have several root fields; absent: only where their directive says so. */
  readonly multipleSubscriptionRoots?: boolean;
}

/** Facts about a variable beyond which a plan is not worth keeping: about the conditions of a query, and about the data of a mutation. */
const KEPT_FACTS = { query: 1000, mutation: 32, subscription: 1000 } as const;

/** Bytes of a prepared operation, and of what the parser makes of a token: measured with Node 20 to 24. */
const PREPARED = 2_000;
const TOKEN = 110;

/** @param roots lazy types, built as requests touch them */
export function createRoleSchema(role: string, roots: RootTypes, options: RoleSchemaOptions): RoleSchema {
  const { limits, nullInNonNullableVariables, explainMissing = () => null } = options;
  const unsent = options.unsentVariables ?? 'absent-from-data';
  const multipleSubscriptionRoots = options.multipleSubscriptionRoots ?? false;
  const introspection = introspectionFields(roots, {
    maxCharacters: limits.maxIntrospectionCharacters,
    wholeRoots: options.wholeRoots,
  });
  const blindRole = options.introspectionDisabled ? role : null;
  const explaining = (operation: PreparedOperation['kind']) => ({
    explainMissing: (field: string, path: Path) => explainMissing(field, path, operation),
  });
  const parents: Readonly<Record<PreparedOperation['kind'], SelectionParent | null>> = {
    query: { type: roots.query, abstract: null, metaFields: introspection, ...explaining('query') },
    mutation: roots.mutation === null ? null : { type: roots.mutation, abstract: null, ...explaining('mutation') },
    subscription:
      roots.subscription === null
        ? null
        : { type: roots.subscription, abstract: null, metaFields: introspection, ...explaining('subscription') },
  };

  return {
    role,
    roots,
    introspectionDisabled: options.introspectionDisabled,
    prepare(query, operationName) {
      const document = readDocument(query, operationName, limits.maxTokens);
      const { operation, fragments } = document;
      const kind = operation.operation;
      const parent = parents[kind];
      if (parent === null) throw missingRoot(operation, explainMissing);
      const declared = declareVariables(operation);
      const { variableUses, size } = checkDocument(document, declared, limits);
      const argumentTexts = new Map<FieldNode, string>();
      return {
        kind,
        name: operation.name?.value ?? null,
        size,
        memory: PREPARED + document.tokens * TOKEN + query.length * 2,
        variables: variableBinder(declared, variableUses, {
          nullInNonNullableVariables,
          unsentAreNull: unsent === 'null',
          maxDepth: limits.maxDepth,
          maxRepeatedSize: limits.maxRepeatedSize,
        }),
        translate(variables: Variables) {
          const constraints = createConstraintRecorder({ parts: limits.maxValues, facts: KEPT_FACTS[kind] });
          const input: InputContext = {
            variables,
            declared,
            constraints,
            nullInNonNullableVariables,
            unsentIsAbsent: unsent !== 'null',
            inConditions: null,
          };
          const inConditions = unsent === 'absent-from-data' ? { ...input, unsentIsAbsent: false } : null;
          const context: SelectionContext = {
            ...input,
            inConditions,
            fragments,
            joins: createJoinList(),
            expansion: { left: 2 * limits.maxValues },
            argumentTexts,
          };
          const cached = cacheWish(context, operation.directives, at(ROOT, 'directives'));
          const translated = translateOperation(kind, document, parent, context, { blindRole, multipleSubscriptionRoots });
          return cached === undefined ? translated : { ...translated, cached };
        },
      };
    },
  };
}

/** The role has nothing of this kind, perhaps because the source of what it asks for is away. */
function missingRoot(
  { operation, selectionSet }: OperationDefinitionNode,
  explainMissing: NonNullable<RoleSchemaOptions['explainMissing']>,
): SvcError {
  for (const selection of selectionSet.selections) {
    const name = selection.kind === Kind.FIELD ? selection.name.value : '';
    const reason = explainMissing(name, at(at(ROOT, 'selectionSet'), name), operation);
    if (reason !== null) return reason;
  }
  return new SvcError('validation-failed', operation === 'mutation' ? 'no mutations exist' : 'no subscriptions exist');
}

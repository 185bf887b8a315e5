/** Creates the schema of a role from its root types: the entry point to documents, variables, selections and introspection. */
import { type FieldNode, Kind, type OperationDefinitionNode } from 'graphql';
import { SvcError } from '../errors/svc-error.ts';
import { at, type Path, ROOT } from '../util/path.ts';
import type { Variables } from './constraint.ts';
import { cacheDirective } from './directives.ts';
import { checkDocument } from './document/check.ts';
import { readDocument } from './document.ts';
import { fragmentTypeCheck } from './fragment-types.ts';
import { createConstraintRecorder, type InputContext } from './input/context.ts';
import { createJoinList } from './join-list.ts';
import { introspectionFields } from './introspection.ts';
import type { AnswerCache } from './introspection/cache.ts';
import { translateOperation } from './operation.ts';
import type { SelectionContext, SelectionParent } from './selection.ts';
import type { PreparedOperation, RoleSchema } from './translation.ts';
import type { OutputField, RootTypes } from './types.ts';
import { declareVariables, variableBinder } from './variables.ts';

export interface OperationLimits {
  /** Maximum tokens of a document. */
  readonly maxTokens: number;
  /** Maximum levels of fields, fragments, lists and input objects, with fragments expanded; also for the value of a variable. */
  readonly maxDepth: number;
  /** Maximum fields and input values, with fragments expanded. */
  readonly maxValues: number;
  /** Maximum fields with a selection, with fragments expanded: the most expensive ones to plan. */
  readonly maxObjects: number;
  /** Maximum fields with an alias, with fragments expanded. */
  readonly maxAliases: number;
  /** Maximum size of the variables that are read more than once, multiplied by the number of reads: see `jsonSizeWithin`. */
  readonly maxRepeatedSize: number;
  /** Maximum characters of an introspection answer. */
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
 * Treatment of nullable variables that were not sent and have no default. `absent`: the argument or key with the variable is omitted, as
 * the GraphQL specification requires. `absent-from-data` (default): the same, except in conditions, where it is null and so rejected.
 * `null`: it is null everywhere.
 */
export type UnsentVariables = 'absent-from-data' | 'absent' | 'null';

export interface RoleSchemaOptions {
  /** Returns the error if a root lacks a field that exists for the role; null if the field does not exist. */
  readonly explainMissing?: (field: string, path: Path, operation: PreparedOperation['kind']) => SvcError | null;
  readonly introspectionDisabled: boolean;
  /** Builds separate roots for walks over all types: introspection of the whole schema, and names of types in fragments. */
  readonly wholeRoots?: () => RootTypes;
  readonly limits: OperationLimits;
  /** Cache for the answers of introspection. */
  readonly introspectionAnswers: AnswerCache;
  /** If true, null is passed to the field even if a variable is declared `T!`. */
  readonly nullInNonNullableVariables: boolean;
  readonly unsentVariables?: UnsentVariables;
  /** If true, subscriptions may have several root fields. Default: only with a directive that allows it. */
  readonly multipleSubscriptionRoots?: boolean;
}

/** Maximum facts about variables in a reusable plan: about the conditions of a query, and about the data of a mutation. */
const MAX_FACTS = { query: 1000, mutation: 32, subscription: 1000 } as const;

/** Bytes of a prepared operation, and of a parsed token: measured with Node 20 to 24. */
const PREPARED = 2_000;
const TOKEN = 110;

/** @param roots lazy types, built when requests use them */
export function createRoleSchema(role: string, roots: RootTypes, options: RoleSchemaOptions): RoleSchema {
  const { limits, nullInNonNullableVariables, explainMissing = () => null } = options;
  const unsent = options.unsentVariables ?? 'absent-from-data';
  const multipleSubscriptionRoots = options.multipleSubscriptionRoots ?? false;
  const introspection = introspectionFields(roots, {
    maxCharacters: limits.maxIntrospectionCharacters,
    answers: options.introspectionAnswers,
    wholeRoots: options.wholeRoots,
  });
  const blindRole = options.introspectionDisabled ? role : null;
  const parents = parentsOf(roots, introspection, explainMissing);

  return {
    role,
    roots,
    introspectionDisabled: options.introspectionDisabled,
    requireTypes: fragmentTypeCheck(options.wholeRoots ?? (() => roots)),
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
          const constraints = createConstraintRecorder({ parts: limits.maxValues, facts: MAX_FACTS[kind] });
          const input: InputContext = {
            variables,
            declared,
            constraints,
            nullInNonNullableVariables,
            unsentIsAbsent: unsent !== 'null',
            inConditions: null,
          };
          const context = selectionContext(input, unsent, fragments, limits.maxValues, argumentTexts);
          const cached = cacheDirective(context, operation.directives, at(ROOT, 'directives'));
          const translated = translateOperation(kind, document, parent, context, {
            introspectionDisabledRole: blindRole,
            multipleSubscriptionRoots,
          });
          return cached === undefined ? translated : { ...translated, cached };
        },
      };
    },
  };
}

function selectionContext(
  input: InputContext,
  unsent: UnsentVariables,
  fragments: SelectionContext['fragments'],
  maxValues: number,
  argumentTexts: SelectionContext['argumentTexts'],
): SelectionContext {
  return {
    ...input,
    inConditions: unsent === 'absent-from-data' ? { ...input, unsentIsAbsent: false } : null,
    fragments,
    joins: createJoinList(),
    expansion: { left: 2 * maxValues },
    argumentTexts,
    fragmentTypes: new Map(),
  };
}

type Parents = Readonly<Record<PreparedOperation['kind'], SelectionParent | null>>;

/** Returns the parents of the fields of an operation; `null` if the role has no root of the kind. */
function parentsOf(
  roots: RootTypes,
  metaFields: ReadonlyMap<string, OutputField>,
  explainMissing: NonNullable<RoleSchemaOptions['explainMissing']>,
): Parents {
  const explaining = (operation: PreparedOperation['kind']) => ({
    explainMissing: (field: string, path: Path) => explainMissing(field, path, operation),
  });
  return {
    query: { type: roots.query, abstract: null, metaFields, ...explaining('query') },
    mutation: roots.mutation === null ? null : { type: roots.mutation, abstract: null, ...explaining('mutation') },
    subscription:
      roots.subscription === null ? null : { type: roots.subscription, abstract: null, metaFields, ...explaining('subscription') },
  };
}

/** The role has no root of this kind, perhaps because the source of the requested field is unavailable. */
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

import { nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { defaulted, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { updateFunction, withFunction, withoutFunction } from '../../metadata/edit.ts';
import {
  type FunctionConfiguration,
  functionConfigurationCodec,
  NO_FUNCTION_CONFIGURATION,
  newFunction,
  withoutPermission,
} from '../../metadata/function.ts';
import { requireFunction } from '../../metadata/lookup.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { dropDependents } from '../drop-dependents.ts';
import { BROKEN_BY_DROP, define, type OperationGroup, perKind } from '../operation.ts';
import { BREAKS_OTHERS, FUNCTION_ERRORS, INCONSISTENT, NAME_TAKEN, refused, SOURCE_ERRORS } from '../operation-error.ts';
import { orBareName } from '../bare-name.ts';
import { sourceArgument, targetSource } from '../target.ts';

const hasFunctions = (backend: Backend): boolean => backend.capabilities.functions;

interface FunctionTarget {
  readonly function: QualifiedName;
  readonly source: string;
}

interface TrackFunction extends FunctionTarget {
  readonly configuration: FunctionConfiguration;
  readonly comment: string | undefined;
}

const EXAMPLE = { source: 'default', function: { schema: 'public', name: 'search_articles' } };

const track = perKind('track_function', hasFunctions, (backend) =>
  define<TrackFunction>({
    args: orBareName<TrackFunction>(
      object('TrackFunction', {
        function: required(backend.functionName),
        source: sourceArgument,
        configuration: defaulted(functionConfigurationCodec, () => NO_FUNCTION_CONFIGURATION),
        comment: optional(text),
      }),
      'function',
      backend.functionName,
      (name) => ({ function: name, source: 'default', configuration: NO_FUNCTION_CONFIGURATION, comment: undefined }),
    ),
    changes: 'metadata',
    errors: [
      ...SOURCE_ERRORS,
      refused('already-tracked', 'the function is already tracked'),
      refused('not-supported', 'a tracked table has the same name, or the configuration has `response`'),
      INCONSISTENT,
      NAME_TAKEN,
    ],
    documentation: { summary: 'Tracks a function that returns rows of a tracked table: adds it as a root field.', example: EXAMPLE },
    edit(metadata, { function: name, source, configuration, comment }, { snapshot }) {
      const entry = targetSource(metadata, source, backend, snapshot);
      const printed = printName(name, backend.defaultSchema);
      if (entry.functions.has(nameKey(name))) throw new SvcError('already-tracked', `function already tracked: "${printed}"`);
      if (entry.tables.has(nameKey(name))) throw new SvcError('not-supported', `table with name "${printed}" already exists`);
      return withFunction(metadata, source, { ...newFunction(name, configuration), ...(comment === undefined ? {} : { comment }) });
    },
    refresh: ({ source, function: name }) => ({ functions: [{ source, name }] }),
    edited: ({ source, function: name }) => [objectId.function(source, name)],
  }),
);

const untrack = perKind('untrack_function', hasFunctions, (backend) =>
  define<FunctionTarget>({
    args: orBareName<FunctionTarget>(
      object('UntrackFunction', { function: required(backend.functionName), source: sourceArgument }),
      'function',
      backend.functionName,
      (name) => ({ function: name, source: 'default' }),
    ),
    changes: 'metadata',
    errors: [...FUNCTION_ERRORS, BREAKS_OTHERS],
    documentation: { summary: 'Untracks a function: removes it and its permissions from the GraphQL API.', example: EXAMPLE },
    readsDependencies: true,
    othersBroke: BROKEN_BY_DROP,
    edit(metadata, { function: name, source }, context) {
      requireFunction(targetSource(metadata, source, backend, context.snapshot), name, backend);
      const edited = dropDependents(metadata, [{ kind: 'function', source, function: name }], false, context.snapshot);
      return withoutFunction(edited, source, nameKey(name));
    },
  }),
);

const setCustomization = perKind('set_function_customization', hasFunctions, (backend) =>
  define({
    args: object('SetFunctionCustomization', {
      function: required(backend.functionName),
      source: sourceArgument,
      configuration: required(functionConfigurationCodec),
    }),
    changes: 'metadata',
    errors: [...FUNCTION_ERRORS, refused('not-supported', 'the configuration has `response`'), INCONSISTENT, NAME_TAKEN, BREAKS_OTHERS],
    documentation: {
      summary: 'Replaces the configuration of a tracked function.',
      example: { ...EXAMPLE, configuration: { custom_name: 'find_articles' } },
    },
    edit(metadata, { function: name, source, configuration }, { snapshot }) {
      requireFunction(targetSource(metadata, source, backend, snapshot), name, backend);
      return updateFunction(metadata, source, nameKey(name), (entry) => ({ ...entry, configuration }));
    },
    edited: ({ source, function: name }) => [objectId.function(source, name)],
  }),
);

function permissionArguments(backend: Backend) {
  return object('FunctionPermission', { function: required(backend.functionName), role: required(nonEmptyText), source: sourceArgument });
}

function permissionExists(role: string, printed: string, source: string): SvcError {
  return new SvcError('already-exists', `permission of role "${role}" already exists for function "${printed}" in source: "${source}"`);
}

const createPermission = perKind('create_function_permission', hasFunctions, (backend) =>
  define({
    args: permissionArguments(backend),
    changes: 'metadata',
    errors: [
      ...FUNCTION_ERRORS,
      refused('not-exists', 'the table that the function returns is not tracked'),
      refused('already-exists', 'the role already has the permission'),
      refused('not-supported', 'the role has no select permission for the table that the function returns'),
      INCONSISTENT,
    ],
    documentation: { summary: 'Allows a role to call a tracked function.', example: { ...EXAMPLE, role: 'user' } },
    readsDependencies: true,
    edit(metadata, { function: name, role, source }, { snapshot }) {
      const entry = targetSource(metadata, source, backend, snapshot);
      const existing = requireFunction(entry, name, backend);
      const printed = printName(name, backend.defaultSchema);
      if (role === ADMIN_ROLE || existing.permissions.includes(role)) throw permissionExists(role, printed, source);
      const returns = snapshot.cache.sources.get(source)?.functions.get(nameKey(name))?.returns;
      const table = returns && snapshot.cache.sources.get(source)?.tables.get(nameKey(returns));
      if (table === undefined)
        throw new SvcError('not-exists', `the return table of function "${printed}" does not exist in source: ${source}`);
      if (table.permissions.get(role)?.select === undefined) {
        throw new SvcError(
          'not-supported',
          `function permission cannot be added when the function's return table "${printName(table.name, backend.defaultSchema)}" has no select permission for role "${role}"`,
        );
      }
      return updateFunction(metadata, source, nameKey(name), (fn) => ({ ...fn, permissions: [...fn.permissions, role].sort() }));
    },
    edited: ({ source, function: name, role }) => [objectId.functionPermission(source, name, role)],
  }),
);

const dropPermission = perKind('drop_function_permission', hasFunctions, (backend) =>
  define({
    args: permissionArguments(backend),
    changes: 'metadata',
    errors: [...FUNCTION_ERRORS, refused('not-exists', 'the role does not have the permission'), BREAKS_OTHERS],
    documentation: { summary: 'Removes the permission of a role to call a function.', example: { ...EXAMPLE, role: 'user' } },
    edit(metadata: Metadata, { function: name, role, source }, { snapshot }) {
      const existing = requireFunction(targetSource(metadata, source, backend, snapshot), name, backend);
      if (!existing.permissions.includes(role)) {
        const printed = printName(name, backend.defaultSchema);
        throw new SvcError('not-exists', `permission of role "${role}" does not exist for function "${printed}" in source: "${source}"`);
      }
      return updateFunction(metadata, source, nameKey(name), (fn) => withoutPermission(fn, role));
    },
  }),
);

export const functionOperations: readonly OperationGroup[] = [track, untrack, setCustomization, createPermission, dropPermission];

/** State of administration tools, and a dump for support. */
import { anyJson, literal, object, required } from '../../metadata/codec.ts';
import { recordsOf } from '../../schema-cache/inconsistency.ts';
import type { SourceInfo } from '../../schema-cache/schema-cache.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Json } from '../../util/json.ts';
import { noArguments } from '../no-arguments.ts';
import { operation, type OperationGroup, SUCCESS } from '../operation.ts';

const catalogState: OperationGroup = () => [
  operation({
    type: 'get_catalog_state',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: { summary: 'Returns the state that the command line and the console store in this metadata database.', example: {} },
    async run(_args, { services }) {
      const { id, cli, console } = await services.catalogState.read();
      return { id, cli_state: cli, console_state: console };
    },
  }),
  operation({
    type: 'set_catalog_state',
    args: object('SetCatalogState', { type: required(literal('CatalogStateType', ['cli', 'console'])), state: required(anyJson) }),
    changes: 'database',
    errors: [],
    documentation: {
      summary: 'Replaces the state of the command line or of the console.',
      example: { type: 'console', state: { onboardingShown: true } },
    },
    async run({ type, state }, { services }) {
      await services.catalogState.write(type, state);
      return SUCCESS;
    },
  }),
];

const internalState: OperationGroup = () => [
  operation({
    type: 'dump_internal_state',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: {
      summary: 'Returns the internal state that the service derives from the metadata, for support. Its format may change at any time.',
      example: {},
    },
    run: async (_args, { snapshot }) => dump(snapshot),
  }),
];

function dump({ resourceVersion, cache, storedOperations }: Snapshot): Json {
  return {
    resource_version: resourceVersion,
    roles: [...cache.roles].sort(),
    sources: Object.fromEntries([...cache.sources].map(([name, source]) => [name, dumpSource(source)])),
    remote_schemas: Object.fromEntries([...cache.remoteSchemas].map(([name, { model }]) => [name, { types: [...model.types.keys()] }])),
    rest_endpoints: storedOperations.endpoints.map(({ endpoint }) => endpoint.url),
    inconsistent_objects: [...recordsOf(cache.inconsistencies)],
  };
}

function dumpSource({ backend, namingConvention, tables, functions }: SourceInfo): Json {
  return {
    kind: backend.kind,
    naming_convention: namingConvention,
    tables: [...tables.values()].map((table) => ({
      table: backend.tableName.encode(table.name),
      name: table.baseName,
      in_graphql: table.inGraphql,
      columns: [...table.columns.keys()],
      primary_key: table.catalog.primaryKey === null ? null : [...table.catalog.primaryKey.columns],
      relationships: [...table.relationships.values()].map(({ name, kind, target }) => ({
        name,
        type: kind,
        remote_table: backend.tableName.encode(target),
      })),
      computed_fields: [...table.computedFields.keys()],
      permissions: Object.fromEntries([...table.permissions].map(([role, permissions]) => [role, Object.keys(permissions)])),
      enum_values: table.enumValues === null ? null : table.enumValues.map(({ value }) => value),
    })),
    functions: [...functions.values()].map((fn) => ({
      function: backend.functionName.encode(fn.name),
      exposed_as: fn.exposedAs,
      permissions: [...fn.permissions],
    })),
  };
}

export const stateOperations: readonly OperationGroup[] = [catalogState, internalState];

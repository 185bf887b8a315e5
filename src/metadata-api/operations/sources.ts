import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { bool, defaulted, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import { isSourceName, renameSource, withoutSource, withSource } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { requireSource, requireSourceOfKind } from '../../metadata/lookup.ts';
import { queryTagsFields } from '../../metadata/query-tags.ts';
import {
  DEFAULT_SOURCE,
  healthCheckCodec,
  NO_CUSTOMIZATION,
  type SourceCustomization,
  sourceCustomizationCodec,
} from '../../metadata/source.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { BROKEN_BY_DROP, define, everyKind, operation, type OperationGroup, perKind } from '../operation.ts';
import { BREAKS_OTHERS, DEPENDENTS, INCONSISTENT, NAME_TAKEN, type OperationErrors, refused } from '../operation-error.ts';
import { dropDependents } from '../drop-dependents.ts';
import { mapValues, orSame } from '../map-permissions.ts';
import { isUnusable, unusable } from '../target.ts';

/** @throws SvcError not-supported for a naming convention that the kind does not support */
function checkCustomization(customization: SourceCustomization, backend: Backend): void {
  if (customization.namingConvention === 'graphql-default' && !backend.capabilities.namingConventions) {
    throw new SvcError('not-supported', 'sources other than postgres do not support graphql-default as naming convention yet');
  }
}

function conventionErrors({ capabilities }: Backend): OperationErrors {
  return capabilities.namingConventions ? [] : [refused('not-supported', 'the kind supports only the default naming convention')];
}

const addSource = perKind('add_source', everyKind, (backend) =>
  define({
    args: object('AddSource', {
      name: required(nonEmptyText),
      configuration: required(backend.configuration),
      replaceConfiguration: defaulted(bool, () => false),
      customization: defaulted(sourceCustomizationCodec, () => NO_CUSTOMIZATION),
      healthCheck: optional(healthCheckCodec),
    }),
    changes: 'metadata',
    bringsAddresses: true,
    errors: [
      refused('already-exists', 'a source with this name exists and `replace_configuration` is false'),
      refused('not-exists', '`replace_configuration` is true and the source has another kind'),
      ...conventionErrors(backend),
      INCONSISTENT,
      BREAKS_OTHERS,
      NAME_TAKEN,
    ],
    documentation: { summary: 'Adds a database as a source.', example: { name: 'default', configuration: backend.exampleConfiguration } },
    edit(metadata, args) {
      const { name, configuration, customization } = args;
      checkCustomization(customization, backend);
      const healthCheck = args.healthCheck === undefined ? {} : { healthCheck: args.healthCheck };
      if (!isSourceName(metadata, name)) {
        return withSource(metadata, {
          name,
          kind: backend.kind,
          configuration,
          customization,
          ...healthCheck,
          tables: new Map(),
          functions: new Map(),
        });
      }
      if (!args.replaceConfiguration || metadata.unknownSources.has(name))
        throw new SvcError('already-exists', `source with name "${name}" already exists`);
      const existing = requireSourceOfKind(metadata, name, backend.kind);
      return withSource(metadata, { ...existing, configuration, customization, ...healthCheck });
    },
    edited: ({ name }) => [objectId.source(name)],
  }),
);

const updateSource = perKind('update_source', everyKind, (backend) =>
  define({
    args: object('UpdateSource', {
      name: required(nonEmptyText),
      configuration: optional(backend.configuration),
      customization: optional(sourceCustomizationCodec),
      healthCheck: optional(healthCheckCodec),
    }),
    changes: 'metadata',
    bringsAddresses: true,
    errors: [
      refused('not-exists', 'the source does not exist, or has another kind'),
      ...conventionErrors(backend),
      INCONSISTENT,
      BREAKS_OTHERS,
      NAME_TAKEN,
    ],
    documentation: {
      summary: 'Replaces the given settings of a source, and keeps the others.',
      example: { name: 'default', customization: { root_fields: { prefix: 'shop_' } } },
    },
    edit(metadata, { name, configuration, customization, healthCheck }) {
      const existing = requireSourceOfKind(metadata, name, backend.kind);
      if (customization !== undefined) checkCustomization(customization, backend);
      return withSource(metadata, {
        ...existing,
        ...(configuration === undefined ? {} : { configuration }),
        ...(customization === undefined ? {} : { customization }),
        ...(healthCheck === undefined ? {} : { healthCheck }),
      });
    },
    edited: ({ name }) => [objectId.source(name)],
  }),
);

// The prefix may differ from the kind of the source.
const dropSource = perKind('drop_source', everyKind, () =>
  define({
    args: object('DropSource', { name: required(nonEmptyText), cascade: defaulted(bool, () => false) }),
    changes: 'metadata',
    errors: [
      refused('not-exists', 'the source does not exist'),
      refused('unexpected', '`cascade` is true and the source is inconsistent', 400),
      DEPENDENTS,
      BREAKS_OTHERS,
    ],
    documentation: {
      summary:
        'Removes a source and all of its metadata; the database does not change. With `cascade`, also removes remote relationships of other sources to it.',
      example: { name: 'default', cascade: true },
    },
    readsDependencies: true,
    othersBroke: BROKEN_BY_DROP,
    edit(metadata, { name, cascade }, { snapshot }) {
      if (!isSourceName(metadata, name)) requireSource(metadata, name);
      if (cascade && isUnusable(snapshot, name)) throw unusable(name, snapshot);
      return withoutSource(dropDependents(metadata, [{ kind: 'source', source: name }], cascade, snapshot), name);
    },
  }),
);

/** Changes the name of a source in remote relationships. */
function retargeted(metadata: Metadata, from: string, to: string): Metadata {
  const sources = mapValues(metadata.sources, (source) => {
    const tables = mapValues(source.tables, (table) => {
      const remoteRelationships = mapValues(table.remoteRelationships, (relationship) => {
        const { definition } = relationship;
        const isTarget = definition.kind === 'source' && definition.source === from;
        return isTarget ? { ...relationship, definition: { ...definition, source: to } } : relationship;
      });
      return orSame(table, { ...table, remoteRelationships });
    });
    return orSame(source, { ...source, tables });
  });
  return orSame(metadata, { ...metadata, sources });
}

const rename: OperationGroup = () => [
  operation({
    type: 'rename_source',
    args: object('RenameSource', { name: required(nonEmptyText), newName: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [
      refused('not-exists', 'the source does not exist'),
      refused('already-exists', 'a source with the new name exists'),
      BREAKS_OTHERS,
    ],
    documentation: { summary: 'Renames a source, and keeps all of its metadata.', example: { name: 'default', new_name: 'shop' } },
    edit: (metadata, { name, newName }) => retargeted(renameSource(metadata, name, newName), name, newName),
  }),
];

const setQueryTags: OperationGroup = () => [
  operation({
    type: 'set_query_tags',
    args: object('SetQueryTags', { sourceName: defaulted(nonEmptyText, () => DEFAULT_SOURCE), ...queryTagsFields }),
    changes: 'metadata',
    errors: [refused('not-exists', 'the source does not exist')],
    documentation: {
      summary:
        'Configures query tags: comments that name the GraphQL operation in each statement of a source (labels of jobs in BigQuery). Replaces the previous configuration. See [tracing](../tracing.md).',
      example: { source_name: 'default', format: 'sqlcommenter' },
    },
    edit: (metadata, { sourceName, ...queryTags }) => withSource(metadata, { ...requireSource(metadata, sourceName), queryTags }),
  }),
];

export const sourceOperations: readonly OperationGroup[] = [addSource, updateSource, dropSource, rename, setQueryTags];

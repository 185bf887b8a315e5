import { nameKey } from '../../catalog/catalog.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { bool, type Codec, defaulted, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import {
  arrayUsingCodec,
  type ArrayUsing,
  objectUsingCodec,
  type ObjectUsing,
  type Relationship,
  relationshipName,
} from '../../metadata/relationship.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { dropDependents } from '../drop-dependents.ts';
import { define, everyKind, type OperationDefinition, type OperationGroup, perKind } from '../operation.ts';
import { BREAKS_OTHERS, DEPENDENTS, INCONSISTENT, refused, TABLE_ERRORS } from '../operation-error.ts';
import { renameRelationship } from '../rename-relationship.ts';
import { editTargetTable, sourceArgument, type TableTarget, targetTable } from '../target.ts';

const NO_RELATIONSHIP = refused('not-exists', 'the relationship does not exist');

interface CreateRelationship<U> extends TableTarget {
  readonly name: string;
  readonly using: U;
  readonly comment: string | undefined;
}

/** Returns whether the table has a relationship, a computed field or, if it is in the schema cache, a column with this name. */
export function hasField(table: TableMetadata, name: string, source: string, snapshot: Snapshot): boolean {
  const known = snapshot.cache.sources.get(source)?.tables.get(nameKey(table.table));
  return (
    table.objectRelationships.has(name) ||
    table.arrayRelationships.has(name) ||
    table.computedFields.has(name) ||
    table.remoteRelationships.has(name) ||
    (known?.catalog.columns.some((column) => column.name === name) ?? false)
  );
}

function createRelationship<U>(
  backend: Backend,
  using: Codec<U>,
  documentation: OperationDefinition<unknown>['documentation'],
  add: (table: TableMetadata, relationship: Relationship<U>) => TableMetadata,
): OperationDefinition<CreateRelationship<U>> {
  const args: Codec<CreateRelationship<U>> = object('CreateRelationship', {
    table: required(backend.tableName),
    name: required(relationshipName),
    using: required(using),
    comment: optional(text),
    source: sourceArgument,
  });
  return define({
    args,
    changes: 'metadata',
    errors: [...TABLE_ERRORS, refused('already-exists', 'the table has a field with this name'), INCONSISTENT],
    documentation,
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        const { name, comment } = target;
        if (hasField(table, name, target.source, snapshot)) {
          throw new SvcError(
            'already-exists',
            `field with name "${name}" already exists in table "${printName(table.table, backend.defaultSchema)}"`,
          );
        }
        return add(table, { name, using: target.using, ...(comment === undefined ? {} : { comment }) });
      }),
    edited: ({ source, table, name }) => [objectId.relationship(source, table, name)],
  });
}

/** Returns the `using` of an example: a foreign key, or a manual configuration for kinds without foreign keys. */
function usingOf({ functionsOfColumns }: Backend, key: Json, table: string, remote: string): JsonObject {
  if (functionsOfColumns !== true) return { foreign_key_constraint_on: key };
  const local = remote === 'id' ? 'author_id' : 'id';
  return { manual_configuration: { remote_table: table, column_mapping: { [local]: remote } } };
}

const createObject = perKind('create_object_relationship', everyKind, (backend) =>
  createRelationship<ObjectUsing>(
    backend,
    objectUsingCodec(backend),
    {
      summary: 'Adds a field for the related row of another table.',
      example: { source: 'default', table: 'article', name: 'author', using: usingOf(backend, 'author_id', 'author', 'id') },
    },
    (table, relationship) => ({ ...table, objectRelationships: withEntry(table.objectRelationships, relationship.name, relationship) }),
  ),
);

const createArray = perKind('create_array_relationship', everyKind, (backend) =>
  createRelationship<ArrayUsing>(
    backend,
    arrayUsingCodec(backend),
    {
      summary: 'Adds a field for the list of related rows of another table.',
      example: {
        source: 'default',
        table: 'author',
        name: 'articles',
        using: usingOf(backend, { table: 'article', column: 'author_id' }, 'article', 'author_id'),
      },
    },
    (table, relationship) => ({ ...table, arrayRelationships: withEntry(table.arrayRelationships, relationship.name, relationship) }),
  ),
);

/** @throws SvcError not-exists */
function requireRelationship(table: TableMetadata, name: string): void {
  if (table.objectRelationships.has(name) || table.arrayRelationships.has(name)) return;
  throw new SvcError('not-exists', `relationship "${name}" does not exist`);
}

const drop = perKind('drop_relationship', everyKind, (backend) =>
  define({
    args: object('DropRelationship', {
      table: required(backend.tableName),
      relationship: required(relationshipName),
      cascade: defaulted(bool, () => false),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, NO_RELATIONSHIP, DEPENDENTS, BREAKS_OTHERS],
    documentation: {
      summary: 'Removes a relationship. With `cascade`, also removes the permissions that use it.',
      example: { source: 'default', table: 'article', relationship: 'author', cascade: false },
    },
    readsDependencies: true,
    edit(metadata, target, context) {
      const { source, table, relationship } = target;
      requireRelationship(targetTable(metadata, target, backend, context.snapshot), relationship);
      const edited = dropDependents(
        metadata,
        [{ kind: 'relationship', source, table, name: relationship }],
        target.cascade,
        context.snapshot,
      );
      return editTargetTable(edited, target, backend, context.snapshot, (entry) => ({
        ...entry,
        objectRelationships: withoutEntry(entry.objectRelationships, relationship),
        arrayRelationships: withoutEntry(entry.arrayRelationships, relationship),
      }));
    },
  }),
);

function withComment<U>(
  relationships: ReadonlyMap<string, Relationship<U>>,
  name: string,
  comment: string | undefined,
): ReadonlyMap<string, Relationship<U>> {
  const existing = relationships.get(name);
  if (existing === undefined) return relationships;
  return withEntry(relationships, name, { name, using: existing.using, ...(comment === undefined ? {} : { comment }) });
}

const setComment = perKind('set_relationship_comment', everyKind, (backend) =>
  define({
    args: object('SetRelationshipComment', {
      table: required(backend.tableName),
      relationship: required(relationshipName, 'name'),
      comment: optional(text),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, NO_RELATIONSHIP, INCONSISTENT],
    documentation: {
      summary: 'Sets the description of a relationship; null removes it.',
      example: { source: 'default', table: 'article', relationship: 'author', comment: 'the author of the article' },
    },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        requireRelationship(table, target.relationship);
        return {
          ...table,
          objectRelationships: withComment(table.objectRelationships, target.relationship, target.comment),
          arrayRelationships: withComment(table.arrayRelationships, target.relationship, target.comment),
        };
      }),
    edited: ({ source, table, relationship }) => [objectId.relationship(source, table, relationship)],
  }),
);

const rename = perKind('rename_relationship', everyKind, (backend) =>
  define({
    args: object('RenameRelationship', {
      table: required(backend.tableName),
      name: required(relationshipName),
      newName: required(nonEmptyText),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [
      ...TABLE_ERRORS,
      NO_RELATIONSHIP,
      refused('already-exists', 'the table has a field with the new name'),
      INCONSISTENT,
      BREAKS_OTHERS,
    ],
    documentation: {
      summary: 'Renames a relationship, also in the permissions that use it.',
      example: { source: 'default', table: 'article', name: 'author', new_name: 'writer' },
    },
    readsDependencies: true,
    edit(metadata, target, { snapshot }) {
      const { source, name, newName } = target;
      const table = targetTable(metadata, target, backend, snapshot);
      requireRelationship(table, name);
      if (hasField(table, newName, source, snapshot)) {
        throw new SvcError(
          'already-exists',
          `cannot rename relationship "${name}" to "${newName}" in table "${printName(table.table, backend.defaultSchema)}" as a column/relationship with the name already exists`,
        );
      }
      return renameRelationship(metadata, target, name, newName, snapshot.cache);
    },
    edited: ({ source, table, newName }) => [objectId.relationship(source, table, newName)],
  }),
);

export const relationshipOperations: readonly OperationGroup[] = [createObject, createArray, drop, setComment, rename];

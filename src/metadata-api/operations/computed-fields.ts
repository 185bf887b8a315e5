import { nameKey } from '../../catalog/catalog.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { bool, defaulted, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { computedFieldDefinitionCodec } from '../../metadata/computed-field.ts';
import { updateTable, withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { requireTable } from '../../metadata/lookup.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { at } from '../../util/path.ts';
import { dropDependents } from '../drop-dependents.ts';
import { BROKEN_BY_DROP, define, type EditContext, type OperationGroup, perKind } from '../operation.ts';
import { BREAKS_OTHERS, DEPENDENTS, INCONSISTENT, refused, TABLE_ERRORS } from '../operation-error.ts';
import { sourceArgument, type TableTarget, targetSource } from '../target.ts';

const hasComputedFields = (backend: Backend): boolean => backend.capabilities.computedFields;

/** Returns the table. Unlike other operations, reports a missing table at the path of its argument. */
function tableOf(metadata: Metadata, target: TableTarget, backend: Backend, context: EditContext): TableMetadata {
  return requireTable(targetSource(metadata, target.source, backend, context.snapshot), target.table, backend, at(context.path, 'table'));
}

const OF_COLUMNS = {
  function: { dataset: 'shop', name: 'articles_of' },
  argument_mapping: { author_id: 'id' },
  return_table: { dataset: 'shop', name: 'article' },
};

const add = perKind('add_computed_field', hasComputedFields, (backend) =>
  define({
    args: object('AddComputedField', {
      table: required(backend.tableName),
      name: required(nonEmptyText),
      definition: required(computedFieldDefinitionCodec(backend)),
      comment: optional(text),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, refused('already-exists', 'the table has a computed field with this name'), INCONSISTENT],
    documentation: {
      summary: 'Adds a computed field: a function of the database computes its value from the row.',
      example: {
        source: 'default',
        table: 'author',
        name: 'full_name',
        definition: backend.functionsOfColumns === true ? OF_COLUMNS : { function: 'author_full_name', table_argument: 'author_row' },
      },
    },
    edit(metadata, target, context) {
      const { name, definition, comment } = target;
      const table = tableOf(metadata, target, backend, context);
      if (table.computedFields.has(name)) {
        throw new SvcError(
          'already-exists',
          `computed field "${name}" already exists in table "${printName(table.table, backend.defaultSchema)}"`,
          {
            path: at(context.path, 'name'),
          },
        );
      }
      const field = { ...definition, name, ...(comment === undefined ? {} : { comment }) };
      return updateTable(metadata, target.source, nameKey(target.table), (entry) => ({
        ...entry,
        computedFields: withEntry(entry.computedFields, name, field),
      }));
    },
    refresh: ({ source, definition }) => ({ functions: [{ source, name: definition.function }] }),
    edited: ({ source, table, name }) => [objectId.computedField(source, table, name)],
  }),
);

const drop = perKind('drop_computed_field', hasComputedFields, (backend) =>
  define({
    args: object('DropComputedField', {
      table: required(backend.tableName),
      name: required(nonEmptyText),
      cascade: defaulted(bool, () => false),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, refused('not-exists', 'the computed field does not exist'), DEPENDENTS, BREAKS_OTHERS],
    documentation: {
      summary: 'Removes a computed field. With `cascade`, also removes it from permissions, and removes permissions whose filters use it.',
      example: { source: 'default', table: 'author', name: 'full_name', cascade: false },
    },
    readsDependencies: true,
    othersBroke: BROKEN_BY_DROP,
    edit(metadata, target, context) {
      const { source, table, name } = target;
      if (!tableOf(metadata, target, backend, context).computedFields.has(name)) {
        throw new SvcError('not-exists', `computed field "${name}" does not exist`, { path: at(context.path, 'name') });
      }
      const edited = dropDependents(metadata, [{ kind: 'computed-field', source, table, name }], target.cascade, context.snapshot);
      return updateTable(edited, source, nameKey(table), (entry) => ({
        ...entry,
        computedFields: withoutEntry(entry.computedFields, name),
      }));
    },
  }),
);

export const computedFieldOperations: readonly OperationGroup[] = [add, drop];

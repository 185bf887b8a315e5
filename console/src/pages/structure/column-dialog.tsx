import { useState } from 'preact/hooks';
import { type ColumnAttributes, readColumnAttributes } from '../../api/structure.ts';
import type { ColumnInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { canDefine, type ColumnDefinition, type Definition, type SqlName } from '../../model/definitions.ts';
import type { TableOverview } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { TextField } from '../../parts/text-field.tsx';
import { ColumnFields, useEnumNames } from './column-fields.tsx';
import { DefinitionDialog, type DefinedSource } from './definition-dialog.tsx';

export const EMPTY_COLUMN: ColumnDefinition = { name: '', type: 'text', isRequired: false, isGenerated: false, default: '', comment: '' };

interface ColumnFormsProps {
  readonly table: TableOverview;
  readonly form: 'new' | 'edit' | 'drop';
  readonly column?: ColumnInfo;
  onClose(): void;
  onDone(): void;
}

/** The dialog that adds, changes or drops a column. */
export function ColumnForms({ table: { source: name, kind, schema, name: tableName }, form, column, onClose, onDone }: ColumnFormsProps) {
  const source = { name, kind };
  const table = { schema, name: tableName };
  if (form !== 'drop') return <ColumnDialog source={source} table={table} column={column} onClose={onClose} onDone={onDone} />;
  return (
    <DefinitionDialog
      title={`Drop column ${column?.name ?? ''}`}
      action="Drop column"
      source={source}
      definitions={column === undefined ? [] : [{ kind: 'drop-column', table, column: column.name }]}
      drops
      onClose={onClose}
      onDone={onDone}
    >
      <p>The values of the column are deleted. This cannot be undone.</p>
    </DefinitionDialog>
  );
}

interface ColumnDialogProps {
  readonly source: DefinedSource;
  readonly table: SqlName;
  /** Undefined for a new column. */
  readonly column: ColumnInfo | undefined;
  onClose(): void;
  onDone(): void;
}

/** Adds a column, or changes one. */
function ColumnDialog({ source, table, column, onClose, onDone }: ColumnDialogProps) {
  const before = column === undefined ? EMPTY_COLUMN : draftOf(column);
  const [draft, setDraft] = useState(before);
  const [using, setUsing] = useState('');
  const types = useEnumNames(source);
  const form = STRUCTURES[source.kind];
  const isRetyped = column !== undefined && draft.type !== before.type;
  const attributes = useColumnAttributes(source, table, before.name, isRetyped ? draft.type : undefined);
  if (form === undefined) return null;
  const can = (kind: Definition['kind']): boolean => canDefine(form, kind);
  const isNew = column === undefined;
  const fixed: readonly (keyof ColumnDefinition)[] = isNew
    ? []
    : [
        ...(can('rename-column') ? [] : (['name'] as const)),
        ...(can('set-type') ? [] : (['type'] as const)),
        ...(can('set-required') ? [] : (['isRequired'] as const)),
        ...(can('set-default') ? [] : (['default'] as const)),
        'isGenerated',
      ];
  return (
    <DefinitionDialog
      title={isNew ? 'Add column' : `Edit column ${column.name}`}
      action={isNew ? 'Add column' : 'Save'}
      source={source}
      definitions={isNew ? [{ kind: 'add-column', table, column: draft }] : changesOf(table, before, draft, using, attributes)}
      refusal={draft.name === '' ? 'Enter a name' : draft.type.trim() === '' ? 'Enter a type' : attributes.problem || undefined}
      onClose={onClose}
      onDone={onDone}
    >
      <ColumnFields
        form={form}
        draft={draft}
        types={types}
        fixed={fixed}
        hasComment={isNew ? can('comment-column') || form.column.includes('{comment}') : can('comment-column')}
        onChange={setDraft}
      />
      {isRetyped && form.definitions['set-type']?.includes('{using}') === true && (
        <TextField
          label="Conversion"
          hint="SQL expression for the new values. Empty if the database converts the old ones by itself."
          value={using}
          onInput={setUsing}
        />
      )}
    </DefinitionDialog>
  );
}

function draftOf({ name, type, isNullable, default: value, description }: ColumnInfo): ColumnDefinition {
  return { name, type, isRequired: !isNullable, isGenerated: false, default: value ?? '', comment: description ?? '' };
}

const NOTHING: ColumnAttributes = { attributes: '', check: '', problem: '' };
const UNREAD: ColumnAttributes = { ...NOTHING, problem: 'Reading the column …' };
/** Time without a change of the type before the column is read, in ms. */
const PAUSE_MS = 200;

/** Reads what a change of the type has to repeat. @param type undefined while the type is unchanged */
function useColumnAttributes(source: DefinedSource, table: SqlName, column: string, type: string | undefined): ColumnAttributes {
  const isRead = type !== undefined && STRUCTURES[source.kind]?.reads.columnAttributes !== undefined;
  const { value, failure } = useResource(async (signal) => {
    if (!isRead) return NOTHING;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    signal.throwIfAborted();
    return readColumnAttributes(source, table, column, type, signal);
  }, `${isRead} ${type}`);
  if (!isRead) return NOTHING;
  return value ?? (failure === undefined ? UNREAD : { ...NOTHING, problem: failure.message });
}

/** Statements that turn a column into its draft. It is renamed last. @param attributes SQL that a change of the type repeats */
function changesOf(
  table: SqlName,
  before: ColumnDefinition,
  after: ColumnDefinition,
  using: string,
  { attributes, check }: ColumnAttributes,
): readonly Definition[] {
  const { name: column } = before;
  const changes: Definition[] = [];
  const isNewType = after.type !== before.type;
  // The old default may not fit the new type.
  if (before.default !== '' && (after.default === '' || (isNewType && after.default !== before.default)))
    changes.push({ kind: 'drop-default', table, column });
  if (isNewType) {
    const rest = { attributes, check, default: after.default === before.default ? before.default : '', comment: before.comment };
    changes.push({ kind: 'set-type', table, column, type: after.type, using, rest });
  }
  if (after.default !== '' && after.default !== before.default)
    changes.push({ kind: 'set-default', table, column, default: after.default });
  if (after.isRequired !== before.isRequired) changes.push({ kind: after.isRequired ? 'set-required' : 'drop-required', table, column });
  if (after.comment !== before.comment) changes.push({ kind: 'comment-column', table, column, comment: after.comment });
  if (after.name !== before.name) changes.push({ kind: 'rename-column', table, column, to: after.name });
  return changes;
}

import type { ComponentChildren } from 'preact';
import { cellText } from '../../model/cell-text.ts';
import type { Json } from '../../model/json.ts';
import { type ColumnDraft, draftOfText, editorOf } from '../../model/row-draft.ts';
import type { ColumnInfo } from '../../api/table-info.ts';
import { Button } from '../../parts/button.tsx';
import { type ColumnEditorProps, ColumnEditor } from './column-editor.tsx';
import type { WritableColumn } from './use-row-draft.ts';

interface ColumnFieldProps {
  readonly name: string;
  readonly column: ColumnInfo | undefined;
  /** Undefined if the persona cannot write the column. */
  readonly writable: WritableColumn | undefined;
  /** Stored value; undefined for a new row. */
  readonly before: Json | undefined;
  /** True for a field of several rows, whose values stay unless it is edited. */
  readonly isBulk?: boolean;
  readonly draft: ColumnDraft | undefined;
  readonly error: string | undefined;
  /** Controls beside the editor. */
  readonly children?: ComponentChildren;
  onDraft(draft: ColumnDraft): void;
}

/** A column of a row with the editor of its type. */
export function ColumnField({ name, column, writable, before, isBulk = false, draft, error, children, onDraft }: ColumnFieldProps) {
  const isNew = before === undefined;
  const isNull = draft === undefined ? before === null : draft.kind === 'null';
  const text = draft === undefined ? (cellText(before) ?? '') : draft.kind === 'text' ? draft.text : '';
  const isNullable = column?.isNullable === true;
  const editor = editorOf(writable?.type.text ?? 'String', writable?.choices !== undefined);
  const isRequired = isNew && !isBulk && writable !== undefined && column?.isNullable === false && !column.hasDefault;
  const unset = isBulk
    ? 'unchanged'
    : column?.default !== undefined
      ? `default: ${column.default}`
      : column?.hasDefault === true
        ? 'default'
        : 'not set';
  const id = `column-${name}`;
  const props: ColumnEditorProps = {
    id,
    name,
    editor,
    type: writable?.type.text ?? 'String',
    text,
    choices: writable?.choices ?? [],
    placeholder: isNull ? 'NULL' : isNew && draft === undefined ? unset : editor === 'text' ? 'empty string' : '',
    isReadOnly: writable === undefined,
    isRequired,
    isInvalid: error !== undefined,
    onText: (next) => onDraft(draftOfText(next, editor, isNullable, isNew)),
  };
  const hasGroup = writable !== undefined && (editor === 'boolean' || editor === 'list');
  return (
    <div class="field" data-column={name}>
      <div class="row-tight">
        {hasGroup ? (
          <span class="label">{name}</span>
        ) : (
          <label class="label" for={id}>
            {name}
          </label>
        )}
        <span class="muted small mono">{column?.type}</span>
        {isRequired && <span class="required small">required</span>}
        <span class="grow" />
        {isNullable && writable !== undefined && (
          <Button small kind="quiet" pressed={isNull} onClick={() => onDraft(isNull ? { kind: 'text', text: '' } : { kind: 'null' })}>
            NULL
          </Button>
        )}
        {isNew && draft !== undefined && draft.kind !== 'unset' && (
          <Button small kind="quiet" onClick={() => onDraft({ kind: 'unset' })}>
            {isBulk ? 'Keep values' : 'Use default'}
          </Button>
        )}
      </div>
      <div class="column-editor">
        <ColumnEditor {...props} />
        {children}
      </div>
      {column?.description !== undefined && <span class="hint">{column.description}</span>}
      {error !== undefined && (
        <span class="error-text" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

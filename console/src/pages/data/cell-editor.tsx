import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import type { FieldType } from '../../api/types.ts';
import { cellText, jsonOfText } from '../../model/cell-text.ts';
import type { Json } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { tell } from '../../parts/toast.tsx';

interface CellEditorProps {
  readonly column: string;
  readonly json: Json;
  /** Of the input of updates. */
  readonly type: FieldType;
  readonly isNullable: boolean;
  /** @throws what the service says against it: the text stays */
  onSave(json: Json): Promise<void>;
  onCancel(): void;
}

/** A value in the place of its cell: Enter writes it, Esc leaves it as it was. */
export function CellEditor({ column, json, type, isNullable, onSave, onCancel }: CellEditorProps) {
  const [text, setText] = useState(cellText(json) ?? '');
  const [isNull, setNull] = useState(json === null);
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const cell = (): HTMLElement | null | undefined => input.current?.closest('td');
  /** The cell has the focus again, rather than nothing. */
  const leave = (): void => cell()?.focus();
  const save = async (): Promise<void> => {
    if (isBusy) return;
    if (isNull ? json === null : cellText(json) === text) {
      leave();
      return onCancel();
    }
    let value: Json;
    try {
      value = isNull ? null : jsonOfText(text, type.text);
    } catch (error) {
      setWrong(`This is not ${type.text}: ${error instanceof Error ? error.message : ''}`);
      return;
    }
    setBusy(true);
    const place = cell();
    try {
      await onSave(value);
      place?.focus();
    } catch (error) {
      const { message } = failureOf(error);
      setWrong(message);
      tell(message, { isWrong: true });
    }
    setBusy(false);
  };
  return (
    <span class="cell-editor">
      <input
        ref={input}
        class="input input-small"
        aria-label={`${column}: Enter writes it, Escape leaves it`}
        aria-invalid={wrong !== undefined || undefined}
        title={wrong}
        placeholder={isNull ? 'NULL' : 'empty text'}
        spellcheck={false}
        value={isNull ? '' : text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setNull(false);
          setWrong(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save();
          else if (event.key === 'Escape') {
            leave();
            onCancel();
          } else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      {isNullable && (
        <Button
          small
          kind="quiet"
          pressed={isNull}
          onClick={() => {
            setNull(!isNull);
            input.current?.focus();
          }}
        >
          NULL
        </Button>
      )}
    </span>
  );
}

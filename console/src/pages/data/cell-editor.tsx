import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import type { FieldType } from '../../api/types.ts';
import { cellText, jsonOfText } from '../../model/cell-text.ts';
import type { Json } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { showToast } from '../../parts/toast.tsx';

interface CellEditorProps {
  readonly column: string;
  readonly json: Json;
  /** Type of the column in the update input. */
  readonly type: FieldType;
  readonly isNullable: boolean;
  /** @throws Failure if the service rejects the value; the text stays */
  onSave(json: Json): Promise<void>;
  onCancel(): void;
}

/** Editor in a cell: Enter saves, Escape cancels. */
export function CellEditor({ column, json, type, isNullable, onSave, onCancel }: CellEditorProps) {
  const [text, setText] = useState(cellText(json) ?? '');
  const [isNull, setNull] = useState(json === null);
  const [message, setMessage] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const cell = (): HTMLElement | null | undefined => input.current?.closest('td');
  const focusCell = (): void => cell()?.focus();
  const save = async (): Promise<void> => {
    if (isBusy) return;
    if (isNull ? json === null : cellText(json) === text) {
      focusCell();
      return onCancel();
    }
    let value: Json;
    try {
      value = isNull ? null : jsonOfText(text, type.text);
    } catch (error) {
      setMessage(`Not a valid ${type.text}: ${failureOf(error).message}`);
      return;
    }
    setBusy(true);
    const place = cell();
    try {
      await onSave(value);
      place?.focus();
    } catch (error) {
      const refused = failureOf(error).message;
      setMessage(refused);
      showToast(refused, { isError: true });
    }
    setBusy(false);
  };
  return (
    <span class="cell-editor">
      <input
        ref={input}
        class="input input-small"
        aria-label={`${column}: Enter saves, Escape cancels`}
        aria-invalid={message !== undefined || undefined}
        title={message}
        placeholder={isNull ? 'NULL' : 'empty string'}
        spellcheck={false}
        value={isNull ? '' : text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setNull(false);
          setMessage(undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save();
          else if (event.key === 'Escape') {
            focusCell();
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

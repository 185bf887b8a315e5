import { useRef } from 'preact/hooks';
import { cellText, jsonOfText } from '../../model/cell-text.ts';
import { isList, isObject, type Json, parseJsonText, printJson } from '../../model/json.ts';
import { localTime, pickedTime, timeForPicker } from '../../model/local-time.ts';
import type { EditorKind } from '../../model/row-draft.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/tabs.tsx';

export interface ColumnEditorProps {
  readonly id: string;
  readonly name: string;
  readonly editor: EditorKind;
  /** GraphQL type of the column. */
  readonly type: string;
  readonly text: string;
  readonly choices: readonly string[];
  readonly placeholder: string;
  readonly isReadOnly: boolean;
  readonly isRequired: boolean;
  readonly isInvalid: boolean;
  onText(text: string): void;
}

/** The editor of a value as text, by the type of its column. */
export function ColumnEditor(props: ColumnEditorProps) {
  if (props.isReadOnly) return <TextEditor {...props} />;
  switch (props.editor) {
    case 'boolean':
      return <BooleanEditor {...props} />;
    case 'choice':
      return <ChoiceEditor {...props} />;
    case 'date':
    case 'time':
    case 'datetime':
    case 'instant':
      return <TimeEditor {...props} kind={props.editor} />;
    case 'json':
      return <JsonEditor {...props} />;
    case 'list':
      return <ListEditor {...props} />;
    case 'number':
      return <input {...fieldProps(props)} class="input grow" inputMode="decimal" autocomplete="off" />;
    case 'text':
      return <TextEditor {...props} />;
  }
}

function fieldProps({ id, text, placeholder, isReadOnly, isRequired, isInvalid, onText }: ColumnEditorProps) {
  return {
    id,
    placeholder,
    value: text,
    spellcheck: false,
    readOnly: isReadOnly,
    'aria-required': isRequired || undefined,
    'aria-invalid': isInvalid || undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onText(event.currentTarget.value),
  };
}

function TextEditor(props: ColumnEditorProps) {
  return <textarea {...fieldProps(props)} class="textarea" rows={props.text.length > 60 || props.text.includes('\n') ? 4 : 1} />;
}

function BooleanEditor({ name, text, placeholder, onText }: ColumnEditorProps) {
  return (
    <>
      <Segments
        name={name}
        options={[
          ['true', 'true'],
          ['false', 'false'],
        ]}
        chosen={text}
        onChoose={onText}
      />
      {text === '' && <span class="muted small">{placeholder}</span>}
    </>
  );
}

function ChoiceEditor({ id, text, choices, placeholder, isRequired, isInvalid, onText }: ColumnEditorProps) {
  const isListed = text === '' || choices.includes(text);
  return (
    <select
      id={id}
      class="select grow"
      value={text}
      aria-required={isRequired || undefined}
      aria-invalid={isInvalid || undefined}
      onChange={(event) => onText(event.currentTarget.value)}
    >
      <option value="">{placeholder}</option>
      {(isListed ? choices : [text, ...choices]).map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

const PICKERS = { date: 'date', time: 'time', datetime: 'datetime-local', instant: 'datetime-local' } as const;

/** The exact text, which may be more precise than the picker of the browser, or `infinity`. */
function TimeEditor(props: ColumnEditorProps & { readonly kind: keyof typeof PICKERS }) {
  const { kind, name, text, onText } = props;
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input {...fieldProps(props)} class="input grow" autocomplete="off" />
      <span class="picker">
        <Button icon="calendar" name={`Pick ${name}`} onClick={() => picker.current?.showPicker()} />
        <input
          ref={picker}
          type={PICKERS[kind]}
          step={kind === 'date' ? undefined : 1}
          tabIndex={-1}
          aria-hidden="true"
          data-picker={name}
          value={timeForPicker(text, kind)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value !== '') onText(pickedTime(value, kind));
          }}
        />
      </span>
      <Button kind="quiet" onClick={() => onText(localTime(new Date(), kind))}>
        {kind === 'date' ? 'Today' : 'Now'}
      </Button>
    </>
  );
}

function JsonEditor(props: ColumnEditorProps) {
  const { text, isInvalid, onText } = props;
  let parsed: Json | undefined;
  let problem: string | undefined;
  try {
    if (text.trim() !== '') parsed = parseJsonText(text);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const pretty = parsed === undefined ? text : printJson(parsed, 2);
  return (
    <div class="grow stack-tight">
      <textarea
        {...fieldProps({ ...props, isInvalid: isInvalid || problem !== undefined })}
        class="textarea"
        rows={Math.min(16, Math.max(1, text.split('\n').length, text.length > 60 ? 4 : 1))}
      />
      <div class="row-tight">
        <span class="hint grow">{problem}</span>
        {pretty !== text && isLong(parsed) && (
          <Button small kind="quiet" onClick={() => onText(pretty)}>
            Format
          </Button>
        )}
      </div>
    </div>
  );
}

function isLong(json: Json | undefined): boolean {
  return json !== undefined && (isList(json) || isObject(json));
}

/** Returns the items of a flat list as texts; undefined for a nested list and for a list with null, which is edited as JSON. */
function itemsOf(text: string): readonly string[] | undefined {
  if (text.trim() === '') return [];
  try {
    const json = parseJsonText(text);
    if (!isList(json) || json.some((item) => item === null || isList(item) || isObject(item))) return undefined;
    return json.map((item) => cellText(item) ?? '');
  } catch {
    return undefined;
  }
}

/** Prints items as values of the element's type; one that is not such a value stays text, which the service rejects. */
function printItems(items: readonly string[], type: string): string {
  const element = type.replaceAll(/[[\]!]/g, '');
  const read = (item: string): Json => {
    try {
      return jsonOfText(item, element);
    } catch {
      return item;
    }
  };
  return printJson(items.map(read));
}

function ListEditor(props: ColumnEditorProps) {
  const { name, type, text, placeholder, isInvalid, onText } = props;
  const items = itemsOf(text);
  if (items === undefined) return <TextEditor {...props} />;
  const write = (next: readonly string[]): void => onText(printItems(next, type));
  return (
    <div class="grow stack-tight" role="group" aria-label={name}>
      {items.map((item, index) => (
        <div class="row-tight" key={index}>
          <input
            class="input grow"
            aria-label={`${name} item ${index + 1}`}
            aria-invalid={isInvalid || undefined}
            spellcheck={false}
            value={item}
            onInput={(event) => write(items.with(index, event.currentTarget.value))}
          />
          <Button kind="quiet" icon="cross" name={`Remove ${name} item ${index + 1}`} onClick={() => write(items.toSpliced(index, 1))} />
        </div>
      ))}
      <div class="row-tight">
        <Button small icon="plus" onClick={() => write([...items, ''])}>
          Add item
        </Button>
        {items.length === 0 && <span class="muted small">{text === '' ? placeholder : 'empty list'}</span>}
      </div>
    </div>
  );
}

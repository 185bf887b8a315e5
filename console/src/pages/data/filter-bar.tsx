import { useState } from 'preact/hooks';
import type { RowColumn } from '../../api/rows.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { persona } from '../../api/persona.ts';
import { readType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { textOfValue, valueOfText } from '../../model/filter-tree.ts';
import { isList, isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';

interface Part {
  readonly column: string;
  readonly operator: string;
  readonly value: Json;
}

/** Splits a condition into tests joined by AND; undefined for any other condition. */
function partsOf(where: JsonObject): readonly Part[] | undefined {
  const list = isList(where['_and']) && Object.keys(where).length === 1 ? where['_and'] : [where];
  const parts: Part[] = [];
  for (const each of list) {
    if (!isObject(each)) return undefined;
    for (const [column, tests] of Object.entries(each)) {
      if (column.startsWith('_') || !isObject(tests)) return undefined;
      for (const [operator, value] of Object.entries(tests)) {
        if (!operator.startsWith('_') || isObject(value)) return undefined;
        parts.push({ column, operator, value });
      }
    }
  }
  return parts;
}

function whereOf(parts: readonly Part[]): JsonObject {
  const tests = parts.map(({ column, operator, value }) => ({ [column]: { [operator]: value } }));
  const [only] = tests;
  return tests.length === 0 ? {} : tests.length === 1 && only !== undefined ? only : { _and: tests };
}

interface FilterBarProps {
  readonly where: JsonObject;
  readonly columns: readonly RowColumn[];
  readonly info: NamedTableInfo;
  onChange(where: JsonObject): void;
}

export function FilterBar({ where, columns, info, onChange }: FilterBarProps) {
  const [open, setOpen] = useState<number | 'new' | 'json' | null>(null);
  const parts = partsOf(where);
  return (
    <span class="row">
      {parts?.map((part, index) => (
        <span class="chip" key={index}>
          <button type="button" onClick={() => setOpen(index)}>
            {part.column} <span class="muted">{part.operator}</span> {textOfValue(part.value)}
          </button>
          <Button
            kind="link"
            icon="cross"
            name={`Remove filter on ${part.column}`}
            onClick={() => onChange(whereOf(parts.toSpliced(index, 1)))}
          />
        </span>
      ))}
      {parts === undefined && (
        <span class="chip">
          <button type="button" onClick={() => setOpen('json')}>
            <code>{printJson(where).slice(0, 60)}</code>
          </button>
          <Button kind="link" icon="cross" name="Remove filter" onClick={() => onChange({})} />
        </span>
      )}
      <Button small icon="filter" onClick={() => setOpen(parts === undefined ? 'json' : 'new')}>
        Filter
      </Button>
      {open === 'json' && <JsonFilter where={where} onClose={() => setOpen(null)} onChange={onChange} />}
      {open !== null && open !== 'json' && parts !== undefined && (
        <PartDialog
          columns={columns}
          info={info}
          part={open === 'new' ? undefined : parts[open]}
          onClose={() => setOpen(null)}
          onJson={() => setOpen('json')}
          onApply={(part) => {
            setOpen(null);
            onChange(whereOf(open === 'new' ? [...parts, part] : parts.with(open, part)));
          }}
        />
      )}
    </span>
  );
}

interface PartDialogProps {
  readonly columns: readonly RowColumn[];
  readonly info: NamedTableInfo;
  readonly part: Part | undefined;
  onClose(): void;
  onJson(): void;
  onApply(part: Part): void;
}

/** Reads the operators that the persona may use on a column. */
async function readOperators({ names }: NamedTableInfo, column: string): Promise<readonly string[]> {
  const as = persona.peek();
  const type = (await readType(as, names.boolExp))?.inputFields.get(column)?.name;
  const found = type === undefined ? undefined : await readType(as, type);
  return found === undefined ? ['_eq', '_neq'] : [...found.inputFields.keys()];
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  onChange(value: string): void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} class="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

function PartDialog({ columns, info, part, onClose, onJson, onApply }: PartDialogProps) {
  const [column, setColumn] = useState(part?.column ?? columns[0]?.name ?? '');
  const [operator, setOperator] = useState(part?.operator ?? '_eq');
  const [text, setText] = useState(part === undefined ? '' : textOfValue(part.value));
  const { value: operators } = useResource(() => readOperators(info, column), column);
  const type = columns.find(({ name }) => name === column)?.type.text.replaceAll('!', '') ?? '';
  const apply = (): void => onApply({ column, operator, value: valueOfText(text, type, operator) });
  return (
    <Dialog
      title="Filter"
      onClose={onClose}
      onSubmit={apply}
      footer={
        <>
          <Button kind="primary" onClick={apply}>
            Apply
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <span class="grow" />
          <Button kind="quiet" onClick={onJson}>
            Edit as JSON
          </Button>
        </>
      }
    >
      <form
        class="row filter-form"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <Choice label="Column" value={column} options={columns.map(({ name }) => name)} onChange={setColumn} />
        <Choice
          label="Operator"
          value={operator}
          options={operators ?? [operator]}
          onChange={(next) => {
            // The select shows true first, so it has to be the value.
            if (next === '_is_null' && !/^(?:true|false)$/.test(text)) setText('true');
            setOperator(next);
          }}
        />
        <Field label="Value" hint={/_n?in$/.test(operator) ? 'Separated by commas.' : undefined}>
          {(id) =>
            operator === '_is_null' ? (
              <select id={id} class="select" value={text} onChange={(event) => setText(event.currentTarget.value)}>
                <option>true</option>
                <option>false</option>
              </select>
            ) : (
              <input id={id} class="input" value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
            )
          }
        </Field>
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

function JsonFilter({ where, onClose, onChange }: { readonly where: JsonObject; onClose(): void; onChange(where: JsonObject): void }) {
  const [text, setText] = useState(printJson(where, 2));
  const [message, setMessage] = useState<string>();
  const apply = (): void => {
    try {
      const json = parseJsonText(text);
      if (!isObject(json)) throw new SyntaxError('expected a JSON object');
      onChange(json);
      onClose();
    } catch (error) {
      setMessage(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog
      title="Filter as JSON"
      onClose={onClose}
      onSubmit={apply}
      footer={
        <Button kind="primary" onClick={apply}>
          Apply
        </Button>
      }
    >
      <Field label="Condition" error={message} hint="A value for the argument where.">
        {(id) => (
          <textarea
            id={id}
            class="textarea"
            rows={10}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}

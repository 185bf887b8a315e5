import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { RowColumn } from '../../api/rows.ts';
import { columnOfField, type NamedTableInfo } from '../../api/table-info.ts';
import { persona } from '../../api/persona.ts';
import { readType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { textOfValue, valueOfText } from '../../model/filter-tree.ts';
import { isObject, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { printRowFilter, readRowFilter, type RowFilter } from '../../model/row-filter.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';

interface FilterBarProps {
  readonly where: JsonObject;
  readonly columns: readonly RowColumn[];
  readonly info: NamedTableInfo;
  onChange(where: JsonObject): void;
}

export function FilterBar({ where, columns, info, onChange }: FilterBarProps) {
  const [open, setOpen] = useState<'form' | 'json' | null>(null);
  const filter = readRowFilter(where);
  const parts = filter?.parts ?? [];
  return (
    <span class="row">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && filter?.join === '_or' && <span class="muted small">or</span>}
          <span class="chip">
            <button type="button" onClick={() => setOpen('form')}>
              {part.column} <span class="muted">{part.operator}</span> {textOfValue(part.value)}
            </button>
            <Button
              kind="link"
              icon="cross"
              name={`Remove filter on ${part.column}`}
              onClick={() => filter !== undefined && onChange(printRowFilter({ ...filter, parts: parts.toSpliced(index, 1) }))}
            />
          </span>
        </Fragment>
      ))}
      {filter === undefined && (
        <span class="chip">
          <button type="button" onClick={() => setOpen('json')}>
            <code>{printJson(where).slice(0, 60)}</code>
          </button>
          <Button kind="link" icon="cross" name="Remove filter" onClick={() => onChange({})} />
        </span>
      )}
      <Button small icon="filter" onClick={() => setOpen(filter === undefined ? 'json' : 'form')}>
        Filter
      </Button>
      {open === 'json' && <JsonFilter where={where} onClose={() => setOpen(null)} onChange={onChange} />}
      {open === 'form' && filter !== undefined && (
        <FilterDialog
          columns={columns}
          info={info}
          filter={filter}
          onClose={() => setOpen(null)}
          onJson={() => setOpen('json')}
          onApply={(next) => {
            setOpen(null);
            onChange(printRowFilter(next));
          }}
        />
      )}
    </span>
  );
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

/** A condition as it is typed. */
interface Row {
  readonly column: string;
  readonly operator: string;
  readonly text: string;
}

interface FilterDialogProps {
  readonly columns: readonly RowColumn[];
  readonly info: NamedTableInfo;
  readonly filter: RowFilter;
  onClose(): void;
  onJson(): void;
  onApply(filter: RowFilter): void;
}

/** All conditions at once. */
function FilterDialog({ columns, info, filter, onClose, onJson, onApply }: FilterDialogProps) {
  const blank: Row = { column: columns[0]?.name ?? '', operator: '_eq', text: '' };
  const [rows, setRows] = useState<readonly Row[]>(
    filter.parts.length === 0
      ? [blank]
      : filter.parts.map(({ column, operator, value }) => ({ column, operator, text: textOfValue(value) })),
  );
  const [join, setJoin] = useState(filter.join);
  const apply = (): void => {
    const parts = rows.map(({ column, operator, text }) => {
      const type = columns.find(({ name }) => name === column)?.type.text.replaceAll('!', '') ?? '';
      return { column, operator, value: valueOfText(text, type, operator) };
    });
    onApply({ join, parts });
  };
  return (
    <Dialog
      title="Filter"
      kind="wide"
      onClose={onClose}
      onSubmit={apply}
      footer={(close) => (
        <>
          <Button kind="primary" onClick={apply}>
            Apply
          </Button>
          <Button onClick={close}>Cancel</Button>
          <span class="grow" />
          <Button kind="quiet" onClick={onJson}>
            Edit as JSON
          </Button>
        </>
      )}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        {rows.length > 1 && (
          <Segments
            name="Rows match"
            options={[
              ['_and', 'All conditions'],
              ['_or', 'Any condition'],
            ]}
            chosen={join}
            onChoose={setJoin}
          />
        )}
        {rows.map((row, index) => (
          <FilterRow
            key={index}
            number={index + 1}
            row={row}
            columns={columns}
            info={info}
            onRow={(next) => setRows(rows.with(index, next))}
            onRemove={() => setRows(rows.toSpliced(index, 1))}
          />
        ))}
        <div>
          <Button small icon="plus" onClick={() => setRows([...rows, blank])}>
            Add condition
          </Button>
        </div>
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

interface FilterRowProps {
  readonly number: number;
  readonly row: Row;
  readonly columns: readonly RowColumn[];
  readonly info: NamedTableInfo;
  onRow(row: Row): void;
  onRemove(): void;
}

function FilterRow({ number, row, columns, info, onRow, onRemove }: FilterRowProps) {
  const { column, operator, text } = row;
  const { value: operators } = useResource(() => readOperators(info, column), column);
  const suffix = number === 1 ? '' : ` ${number}`;
  const write = (next: string): void => onRow({ ...row, text: next });
  const values = columnOfField(info, column)?.values;
  return (
    <div class="row filter-form">
      <Choice
        label={`Column${suffix}`}
        value={column}
        options={columns.map(({ name }) => name)}
        onChange={(next) => onRow({ ...row, column: next })}
      />
      <Choice
        label={`Operator${suffix}`}
        value={operator}
        options={operators ?? [operator]}
        onChange={(next) => {
          // The select shows true first, so it has to be the value.
          const isBlank = next === '_is_null' && !/^(?:true|false)$/.test(text);
          onRow({ ...row, operator: next, ...(isBlank ? { text: 'true' } : {}) });
        }}
      />
      <Field label={`Value${suffix}`} hint={/_n?in$/.test(operator) ? 'Separated by commas.' : undefined}>
        {(id) =>
          operator === '_is_null' ? (
            <select id={id} class="select" value={text} onChange={(event) => write(event.currentTarget.value)}>
              <option>true</option>
              <option>false</option>
            </select>
          ) : (
            <>
              <input
                id={id}
                class="input"
                list={values === undefined ? undefined : `${id}-values`}
                value={text}
                spellcheck={false}
                onInput={(event) => write(event.currentTarget.value)}
              />
              {values !== undefined && (
                <datalist id={`${id}-values`}>
                  {values.map((each) => (
                    <option key={each} value={each} />
                  ))}
                </datalist>
              )}
            </>
          )
        }
      </Field>
      <Button kind="quiet" icon="cross" name={`Remove condition ${number}`} onClick={onRemove} />
    </div>
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

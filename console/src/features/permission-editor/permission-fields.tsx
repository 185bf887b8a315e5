import type { TableInfo } from '../../api/table-info.ts';
import { valueOfText } from '../../model/filter-tree.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { variableHeader } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Check } from '../../parts/field.tsx';
import { Menu } from '../../parts/menu.tsx';

export function PermissionColumns({
  info,
  operation,
  draft,
  onChange,
}: {
  readonly info: TableInfo;
  readonly operation: string;
  readonly draft: JsonObject;
  onChange(columns: Json): void;
}) {
  const { columns } = draft;
  const names = info.columns.map(({ name }) => name);
  const isAll = columns === '*';
  const chosen = new Set(isAll ? names : isList(columns) ? columns.map(String) : []);
  const unknown = [...chosen].filter((name) => !names.includes(name));
  return (
    <fieldset class="plain-fieldset">
      <legend>
        <span class="label">Columns</span>{' '}
        <span class="muted small">{operation === 'select' ? 'the role can read' : 'the role can set'}</span>
      </legend>
      <div class="row">
        <Check label="All columns, including new ones" checked={isAll} onChange={(on) => onChange(on ? '*' : names)} />
        {!isAll && (
          <>
            <Button small kind="quiet" onClick={() => onChange(names)}>
              Select all
            </Button>
            <Button small kind="quiet" onClick={() => onChange([])}>
              Select none
            </Button>
          </>
        )}
      </div>
      <div class="column-ticks">
        {[...names, ...unknown].map((name) => (
          <Check
            key={name}
            label={name}
            disabled={isAll}
            checked={chosen.has(name)}
            onChange={(on) => {
              const next = new Set(chosen);
              if (on) next.add(name);
              else next.delete(name);
              onChange([...names, ...unknown].filter((each) => next.has(each)));
            }}
          />
        ))}
      </div>
    </fieldset>
  );
}

export function ColumnPresets({
  info,
  draft,
  variables,
  onChange,
}: {
  readonly info: TableInfo;
  readonly draft: JsonObject;
  readonly variables: readonly string[];
  onChange(preset: Json | undefined): void;
}) {
  const preset = isObject(draft['set']) ? draft['set'] : {};
  const entries = Object.entries(preset);
  const typeOf = (column: string): string => info.columns.find(({ name }) => name === column)?.type ?? '';
  const update = (next: readonly (readonly [string, Json])[]): void => onChange(next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <fieldset class="plain-fieldset">
      <legend>
        <span class="label">Column presets</span> <span class="muted small">from a session variable or a fixed value</span>
      </legend>
      <div class="stack-tight">
        {entries.map(([column, value], index) => (
          <div class="row-tight" key={column}>
            <span class="mono">{column}</span> =
            <Combobox
              small
              name={`Preset for ${column}`}
              value={typeof value === 'string' ? value : printJson(value)}
              options={variables.map((name) => ({ value: variableHeader(name), note: 'session' }))}
              onChange={(text) => update(entries.with(index, [column, valueOfText(text, typeOf(column), '_eq')]))}
            />
            <Button
              small
              kind="quiet"
              icon="cross"
              name={`Remove preset for ${column}`}
              onClick={() => update(entries.toSpliced(index, 1))}
            />
          </div>
        ))}
        <Menu
          small
          icon="plus"
          items={info.columns
            .filter(({ name }) => !Object.hasOwn(preset, name))
            .map(({ name }) => ({ label: name, run: () => update([...entries, [name, 'X-Svc-User-Id']]) }))}
        >
          Add preset
        </Menu>
      </div>
    </fieldset>
  );
}

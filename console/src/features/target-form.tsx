import { overview } from '../api/overview.ts';
import { readTableInfo } from '../api/table-info.ts';
import { useResource } from '../api/use-resource.ts';
import { findTable, tableId } from '../model/overview.ts';
import type { TargetDraft } from '../model/relationship-target.ts';
import { Combobox, ComboboxField, type Option } from '../parts/combobox.tsx';
import { Pairs } from '../parts/pairs.tsx';
import { Segments } from '../parts/tabs.tsx';
import { TextField } from '../parts/text-field.tsx';

interface TargetProps {
  readonly draft: TargetDraft;
  /** Fields or columns of the type where the relationship begins. */
  readonly own: readonly Option[];
  /** Label for `own`: `From column` or `Field`. */
  readonly ownLabel: string;
  onChange(draft: TargetDraft): void;
}

/** Target of a relationship: rows of a table with equal fields, or a field of a remote schema. */
export function TargetForm(props: TargetProps) {
  const { draft, onChange } = props;
  return (
    <>
      <Segments
        name="Target"
        options={[
          ['table', 'Table'],
          ['remote', 'Remote schema'],
        ]}
        chosen={draft.to}
        onChoose={(to) => onChange({ ...draft, to })}
      />
      {draft.to === 'table' ? <TableTarget {...props} /> : <RemoteTarget {...props} />}
    </>
  );
}

function TableTarget({ draft, own, ownLabel, onChange }: TargetProps) {
  const data = overview.value;
  const set = (changes: Partial<TargetDraft>): void => onChange({ ...draft, ...changes });
  const source = data?.sources.find(({ name }) => name === draft.source);
  const table = data === undefined ? undefined : findTable(data, draft.source, draft.table);
  const { value: columns } = useResource(
    async (signal) => (table === undefined ? [] : (await readTableInfo(table, signal)).columns),
    `${draft.source} ${draft.table}`,
  );
  return (
    <>
      <Segments
        name="Relationship type"
        options={[
          ['one', 'Object (one row)'],
          ['many', 'Array (many rows)'],
        ]}
        chosen={draft.many ? 'many' : 'one'}
        onChoose={(many) => set({ many: many === 'many' })}
      />
      <div class="row fields">
        <ComboboxField
          label="Source"
          value={draft.source}
          strict
          options={(data?.sources ?? []).map(({ name, kind }) => ({ value: name, note: kind }))}
          onChange={(chosen) => set({ source: chosen, table: '' })}
        />
        <ComboboxField
          label="Table"
          value={draft.table}
          strict
          options={(source?.tables ?? []).map((each) => ({ value: tableId(each) }))}
          onChange={(chosen) => set({ table: chosen })}
        />
      </div>
      <span class="label">Field mapping</span>
      <Pairs
        name="Field mapping"
        labels={[ownLabel, 'To column']}
        pairs={draft.mapping}
        add="Add mapping"
        field={(label, part, pair, change) => (
          <Combobox
            key={label}
            name={label}
            placeholder={label}
            value={pair[part]}
            options={part === 'key' ? own : (columns ?? []).map(({ name, type }) => ({ value: name, note: type }))}
            strict={part === 'key' && own.length > 0}
            onChange={change}
          />
        )}
        onChange={(mapping) => set({ mapping })}
      />
    </>
  );
}

function RemoteTarget({ draft, own, onChange }: TargetProps) {
  const variables = own.slice(0, 12).map(({ value }) => `$${value}`);
  return (
    <>
      <ComboboxField
        label="Remote schema"
        value={draft.remoteSchema}
        strict
        options={(overview.value?.remoteSchemas ?? []).map((name) => ({ value: name }))}
        onChange={(remoteSchema) => onChange({ ...draft, remoteSchema })}
      />
      <TextField
        label="Field"
        hint={
          <>
            Example: <code>country(code: $country_code)</code>. Variables: {variables.join(' ')}
          </>
        }
        rows={3}
        value={draft.field}
        onInput={(field) => onChange({ ...draft, field })}
      />
    </>
  );
}

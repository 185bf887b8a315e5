import { overview } from '../api/overview.ts';
import { readTableInfo } from '../api/table-info.ts';
import { useResource } from '../api/use-resource.ts';
import { findTable, tableId } from '../model/overview.ts';
import type { TargetDraft } from '../model/relationship-target.ts';
import { Combobox, type Option } from '../parts/combobox.tsx';
import { Field } from '../parts/field.tsx';
import { Pairs } from '../parts/pairs.tsx';
import { Segments } from '../parts/tabs.tsx';
import { TextField } from '../parts/text-field.tsx';

/** Target of a relationship: rows of a table with equal fields, or a field of a remote schema. */
export function TargetForm({
  draft,
  own,
  ownLabel,
  onChange,
}: {
  readonly draft: TargetDraft;
  /** Fields or columns of the type where the relationship begins. */
  readonly own: readonly Option[];
  /** Label for `own`: `From column` or `Field`. */
  readonly ownLabel: string;
  onChange(draft: TargetDraft): void;
}) {
  const data = overview.value;
  const set = (changes: Partial<TargetDraft>): void => onChange({ ...draft, ...changes });
  const source = data?.sources.find(({ name }) => name === draft.source);
  const table = data === undefined ? undefined : findTable(data, draft.source, draft.table);
  const { value: columns } = useResource(
    async (signal) => (table === undefined ? [] : (await readTableInfo(table, signal)).columns),
    `${draft.source} ${draft.table}`,
  );
  const targetColumns = (columns ?? []).map(({ name, type }): Option => ({ value: name, note: type }));
  return (
    <>
      <Segments
        name="Target"
        options={[
          ['table', 'Table'],
          ['remote', 'Remote schema'],
        ]}
        chosen={draft.to}
        onChoose={(to) => set({ to })}
      />
      {draft.to === 'table' ? (
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
            <Field label="Source">
              {(id) => (
                <Combobox
                  id={id}
                  name="Source"
                  value={draft.source}
                  options={(data?.sources ?? []).map(({ name, kind }) => ({ value: name, note: kind }))}
                  strict
                  onChange={(chosen) => set({ source: chosen, table: '' })}
                />
              )}
            </Field>
            <Field label="Table">
              {(id) => (
                <Combobox
                  id={id}
                  name="Table"
                  value={draft.table}
                  options={(source?.tables ?? []).map((each) => ({ value: tableId(each) }))}
                  strict
                  onChange={(chosen) => set({ table: chosen })}
                />
              )}
            </Field>
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
                options={part === 'key' ? own : targetColumns}
                strict={part === 'key' && own.length > 0}
                onChange={change}
              />
            )}
            onChange={(mapping) => set({ mapping })}
          />
        </>
      ) : (
        <>
          <Field label="Remote schema">
            {(id) => (
              <Combobox
                id={id}
                name="Remote schema"
                value={draft.remoteSchema}
                options={(data?.remoteSchemas ?? []).map((name) => ({ value: name }))}
                strict
                onChange={(chosen) => set({ remoteSchema: chosen })}
              />
            )}
          </Field>
          <TextField
            label="Field"
            hint={
              <>
                Example: <code>country(code: $country_code)</code>. Variables:{' '}
                {own
                  .slice(0, 12)
                  .map(({ value }) => `$${value}`)
                  .join(' ')}
              </>
            }
            rows={3}
            value={draft.field}
            onInput={(field) => set({ field })}
          />
        </>
      )}
    </>
  );
}

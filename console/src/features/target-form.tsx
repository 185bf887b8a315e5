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

/** Where a relationship leads: rows of a table, by fields that are equal, or a field of a remote schema. */
export function TargetForm({
  draft,
  own,
  ownLabel,
  onlyTables = false,
  onChange,
}: {
  readonly draft: TargetDraft;
  /** The fields or columns of where it begins. */
  readonly own: readonly Option[];
  /** What they are: `Column here`, `Field`. */
  readonly ownLabel: string;
  readonly onlyTables?: boolean;
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
  const there = (columns ?? []).map(({ name, type }): Option => ({ value: name, note: type }));
  return (
    <>
      {!onlyTables && (
        <Segments
          name="Leads to"
          options={[
            ['table', 'A table'],
            ['remote', 'A remote schema'],
          ]}
          chosen={draft.to}
          onChoose={(to) => set({ to })}
        />
      )}
      {draft.to === 'table' ? (
        <>
          <Segments
            name="How many"
            options={[
              ['one', 'One row'],
              ['many', 'Many rows'],
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
          <span class="label">Where these are equal</span>
          <Pairs
            name="Where these are equal"
            labels={[ownLabel, 'Column there']}
            pairs={draft.mapping}
            add="And another one"
            field={(label, part, pair, change) => (
              <Combobox
                key={label}
                name={label}
                placeholder={label}
                value={pair[part]}
                options={part === 'key' ? own : there}
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
                Such as <code>country(code: $country_code)</code>, where <code>$country_code</code> is a value from here:{' '}
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

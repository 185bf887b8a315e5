import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { TargetForm } from '../../features/target-form.tsx';
import type { Json, JsonObject } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { missingOf, type TargetDraft, targetDefinition, targetDraft } from '../../model/relationship-target.ts';
import { labelOf } from '../../model/steps.ts';
import { memberOf, membersOf, tableSteps, withMember } from '../../model/table-entry.ts';
import { TextField } from '../../parts/text-field.tsx';

/** A relationship from a table to a table of any source or to a remote schema. */
export function RemoteRelationship({
  data,
  table,
  info,
  before,
  onClose,
}: {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
  /** Stored relationship; undefined for a new one. */
  readonly before: JsonObject | undefined;
  onClose(): void;
}) {
  const [name, setName] = useState(String(before?.['name'] ?? ''));
  /** Relationship as it was stored when the dialog opened. */
  const [basis] = useState(before ?? null);
  const [draft, setDraft] = useState<TargetDraft>(() => targetDraft(before?.['definition'], (other) => idOf(data, other)));
  const missing = name.trim() === '' ? 'Enter a name' : missingOf(draft);
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const save = async (): Promise<boolean> => {
    const target = findTable(data, draft.source, draft.table);
    if (draft.to === 'table' && target === undefined) throw new Error(`The source ${draft.source} has no tracked table ${draft.table}.`);
    const definition = targetDefinition(draft, target === undefined ? null : tableJson(target), before?.['definition']);
    const done = await makeChange({
      title: `Relationship ${name.trim()} of ${tableId(table)}`,
      tables: [address],
      steps: ([entry]) => {
        if (entry === null || entry === undefined) throw new Error(`${tableId(table)} is no longer tracked.`);
        if (before === undefined && memberOf(entry, 'remote_relationships', 'name', name.trim()) !== undefined)
          throw new Error(`A relationship ${name.trim()} already exists.`);
        const member = { ...before, name: name.trim(), definition };
        return tableSteps(address, entry, withMember(entry, 'remote_relationships', 'name', name.trim(), member));
      },
      draft: {
        before: basis,
        now: ([entry]) => memberOf(entry ?? null, 'remote_relationships', 'name', name.trim()) ?? null,
        after: () => ({ ...before, name: name.trim(), definition }),
      },
    });
    return done !== null;
  };
  const own = [
    ...info.columns.map((column) => ({ value: column.name, note: column.type })),
    ...membersOf(info.entry, 'computed_fields').map((field) => ({ value: String(field['name']), note: 'computed' })),
  ];
  return (
    <FormDialog
      title={before === undefined ? `New remote relationship of ${tableId(table)}` : `Relationship ${name}`}
      action={before === undefined ? 'Add' : 'Save'}
      operation={`${table.kind}_${before === undefined ? 'create' : 'update'}_remote_relationship`}
      refusal={missing}
      onClose={onClose}
      onSave={save}
    >
      <TextField label="Name" value={name} readOnly={before !== undefined} onInput={setName} />
      <TargetForm draft={draft} own={own} ownLabel="From column" onChange={setDraft} />
    </FormDialog>
  );
}

/** Table id of the overview; metadata may omit the schema. */
function idOf(data: Overview, table: Json): string {
  if (typeof table !== 'string') return labelOf(table);
  const found = data.sources.flatMap(({ tables }) => tables).find((each) => each.name === table);
  return found === undefined ? table : tableId(found);
}

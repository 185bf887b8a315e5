import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import type { ConstraintKind } from '../../api/structure.ts';
import { readTableInfo, type TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { canDefine, type Definition, type SqlName } from '../../model/definitions.ts';
import { findTable, type TableOverview, tableId } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { KeyColumns } from './key-columns.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';

type NewKind = Exclude<ConstraintKind, 'other'>;

export const CONSTRAINT_NAMES: Readonly<Record<ConstraintKind, string>> = {
  'primary-key': 'Primary key',
  unique: 'Unique',
  'foreign-key': 'Foreign key',
  check: 'Check',
  other: 'Other',
};

interface ConstraintDialogProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
  onClose(): void;
  onDone(): void;
}

/** Adds a key, a foreign key or a check. */
export function ConstraintDialog({ table, info, onClose, onDone }: ConstraintDialogProps) {
  const form = STRUCTURES[table.kind];
  const kinds = (['primary-key', 'unique', 'foreign-key', 'check'] satisfies NewKind[]).filter(
    (each) => canDefine(form, `add-${each}`) && (each !== 'primary-key' || info.primaryKey.length === 0),
  );
  const [kind, setKind] = useState<NewKind>(kinds.includes('foreign-key') ? 'foreign-key' : (kinds[0] ?? 'unique'));
  const [constraint, setConstraint] = useState('');
  const [columns, setColumns] = useState<readonly string[]>([]);
  const [check, setCheck] = useState('');
  const key = useForeignKey(table, columns);
  const { found, targets, onDelete, onUpdate } = key;
  const name: SqlName = { schema: table.schema, name: table.name };
  const definition: Definition =
    kind === 'check'
      ? { kind: 'add-check', table: name, constraint, check }
      : kind === 'foreign-key'
        ? {
            kind: 'add-foreign-key',
            ...{ table: name, constraint, columns, onDelete, onUpdate },
            target: { schema: found?.schema ?? '', name: found?.name ?? '' },
            targetColumns: targets,
          }
        : { kind: `add-${kind}`, table: name, constraint, columns };
  const incomplete =
    kind === 'check'
      ? check.trim() === ''
        ? 'Enter a condition'
        : undefined
      : columns.length === 0
        ? 'Select columns'
        : kind === 'foreign-key' && (found === undefined || targets.length < columns.length || targets.includes(''))
          ? 'Select the table and its columns'
          : undefined;
  return (
    <DefinitionDialog
      title={`Add constraint to ${tableId(table)}`}
      action="Add constraint"
      source={{ name: table.source, kind: table.kind }}
      definitions={[definition]}
      refusal={incomplete}
      onClose={onClose}
      onDone={onDone}
    >
      <Segments name="Constraint" options={kinds.map((each) => [each, CONSTRAINT_NAMES[each]])} chosen={kind} onChoose={setKind} />
      <TextField label="Name" hint="If empty, the database chooses one." value={constraint} onInput={setConstraint} />
      {kind === 'check' ? (
        <TextField label="Condition" hint="SQL expression that is true for valid rows" value={check} onInput={setCheck} />
      ) : (
        <KeyColumns label="Columns" columns={info.columns.map((each) => each.name)} chosen={columns} onChange={setColumns} />
      )}
      {kind === 'foreign-key' && <ForeignKeyFields foreignKey={key} columns={columns} actions={form?.actions ?? []} />}
    </DefinitionDialog>
  );
}

/** Target of a foreign key. */
function useForeignKey(table: TableOverview, columns: readonly string[]) {
  const [target, setTarget] = useState('');
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [onDelete, setOnDelete] = useState('');
  const [onUpdate, setOnUpdate] = useState('');
  const data = overview.value;
  const found = data === undefined ? undefined : findTable(data, table.source, target);
  const { value } = useResource(async (signal) => (found === undefined ? undefined : readTableInfo(found, signal)), target);
  // The primary key, for as many columns.
  const suggested = value?.primaryKey.length === columns.length ? value.primaryKey : [];
  return {
    tables: (data?.sources.find(({ name }) => name === table.source)?.tables ?? []).map(tableId),
    target,
    setTarget(id: string): void {
      setTarget(id);
      setChosen({});
    },
    found,
    targetColumns: (value?.columns ?? []).map(({ name, type }) => ({ value: name, note: type })),
    targets: columns.map((column, index) => chosen[column] ?? suggested[index] ?? ''),
    setTargetOf: (column: string, to: string): void => setChosen({ ...chosen, [column]: to }),
    onDelete,
    setOnDelete,
    onUpdate,
    setOnUpdate,
  };
}

function ForeignKeyFields({
  foreignKey,
  columns,
  actions,
}: {
  readonly foreignKey: ReturnType<typeof useForeignKey>;
  readonly columns: readonly string[];
  readonly actions: readonly string[];
}) {
  const { tables, target, setTarget, targetColumns, targets, setTargetOf } = foreignKey;
  const choices = [
    ['On delete', foreignKey.onDelete, foreignKey.setOnDelete],
    ['On update', foreignKey.onUpdate, foreignKey.setOnUpdate],
  ] as const;
  return (
    <>
      <ComboboxField
        label="References"
        hint="Tracked table"
        value={target}
        options={tables.map((value) => ({ value }))}
        strict
        onChange={setTarget}
      />
      <div class="row fields">
        {target !== '' &&
          columns.map((column, index) => (
            <ComboboxField
              key={column}
              label={`Target of ${column}`}
              value={targets[index] ?? ''}
              options={targetColumns}
              strict
              onChange={(to) => setTargetOf(column, to)}
            />
          ))}
      </div>
      <div class="row fields">
        {choices.map(([label, value, set]) => (
          <Field key={label} label={label}>
            {(id) => (
              <select id={id} class="select" value={value} onChange={(event) => set(event.currentTarget.value)}>
                <option value="">default</option>
                {actions.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
    </>
  );
}

import { useState } from 'preact/hooks';
import type { TableInfo } from '../../api/table-info.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Check, Field } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { KeyColumns } from './key-columns.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';

interface IndexDialogProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
  onClose(): void;
  onDone(): void;
}

/** Creates an index. */
export function IndexDialog({ table, info, onClose, onDone }: IndexDialogProps) {
  const [name, setName] = useState('');
  const [columns, setColumns] = useState<readonly string[]>([]);
  const [isUnique, setUnique] = useState(false);
  const [method, setMethod] = useState('');
  const [where, setWhere] = useState('');
  const form = STRUCTURES[table.kind];
  const template = form?.definitions['create-index'] ?? '';
  const methods = form?.indexMethods ?? [];
  const index = name === '' ? [table.name, ...columns, 'idx'].join('_') : name;
  return (
    <DefinitionDialog
      title={`Create index on ${tableId(table)}`}
      action="Create index"
      source={{ name: table.source, kind: table.kind }}
      definitions={[{ kind: 'create-index', table, index, columns, isUnique, method, where }]}
      refusal={columns.length === 0 ? 'Select columns' : undefined}
      onClose={onClose}
      onDone={onDone}
    >
      <p class="muted small">Writes to the table wait while the index is built.</p>
      <div class="row fields">
        <TextField label="Name" placeholder={columns.length === 0 ? '' : index} value={name} onInput={setName} />
        {methods.length > 0 && (
          <Field label="Method">
            {(id) => (
              <select id={id} class="select" value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
                {methods.map((each, place) => (
                  <option key={each} value={place === 0 ? '' : each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      <Check label="Unique" checked={isUnique} onChange={setUnique} />
      <KeyColumns label="Columns" columns={info.columns.map((each) => each.name)} chosen={columns} onChange={setColumns} />
      {template.includes('{where}') && (
        <TextField label="Only rows where" hint="SQL expression, for a partial index" value={where} onInput={setWhere} />
      )}
    </DefinitionDialog>
  );
}

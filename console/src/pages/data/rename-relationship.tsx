import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { type TableOverview, tableJson } from '../../model/overview.ts';
import { Field } from '../../parts/field.tsx';

export function RenameRelationship({ table, name, onClose }: { readonly table: TableOverview; readonly name: string; onClose(): void }) {
  const [next, setNext] = useState(name);
  const operation = `${table.kind}_rename_relationship`;
  const step = (from: string, to: string) => ({
    type: operation,
    args: { source: table.source, table: tableJson(table), name: from, new_name: to },
  });
  const rename = async (): Promise<boolean> => {
    const done = await makeChange({
      title: `Rename relationship ${name} to ${next}`,
      steps: () => [step(name, next)],
      inverse: [step(next, name)],
    });
    return done !== null;
  };
  return (
    <FormDialog
      title={`Rename ${name}`}
      action="Rename"
      operation={operation}
      refusal={next.trim() === '' || next === name ? 'Enter a new name' : undefined}
      onClose={onClose}
      onSave={rename}
    >
      <Field label="Name" hint="Permissions that use it are updated. Queries of clients are not.">
        {(id) => (
          <input id={id} class="input" value={next} spellcheck={false} autofocus onInput={(event) => setNext(event.currentTarget.value)} />
        )}
      </Field>
    </FormDialog>
  );
}

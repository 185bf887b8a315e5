import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { type TableOverview, tableJson } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';

export function RenameRelationship({ table, name, onClose }: { readonly table: TableOverview; readonly name: string; onClose(): void }) {
  const [next, setNext] = useState(name);
  const [failure, setFailure] = useState<Failure>();
  const step = (from: string, to: string) => ({
    type: `${table.kind}_rename_relationship`,
    args: { source: table.source, table: tableJson(table), name: from, new_name: to },
  });
  const apply = async (): Promise<void> => {
    try {
      await makeChange({
        title: `Rename relationship ${name} to ${next}`,
        steps: () => [step(name, next)],
        inverse: [step(next, name)],
      });
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={`Rename ${name}`}
      onClose={onClose}
      onSubmit={() => void apply()}
      footer={
        <Button kind="primary" refusal={next.trim() === '' || next === name ? 'Enter a new name' : undefined} onClick={() => void apply()}>
          Rename
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Field label="Name" hint="Permissions that use it are updated. Queries of clients are not.">
        {(id) => (
          <input id={id} class="input" value={next} spellcheck={false} autofocus onInput={(event) => setNext(event.currentTarget.value)} />
        )}
      </Field>
    </Dialog>
  );
}

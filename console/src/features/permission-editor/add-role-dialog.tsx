import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';

export function AddRoleDialog({
  known,
  onClose,
  onAdd,
}: {
  readonly known: readonly string[];
  onClose(): void;
  onAdd(name: string): void;
}) {
  const [name, setName] = useState('');
  const refusal = name.trim() === '' ? 'Enter a name' : name.trim() === 'admin' ? 'admin already has all permissions' : undefined;
  const add = (): void => {
    if (refusal === undefined) onAdd(name.trim());
  };
  return (
    <Dialog
      title="Add role"
      onClose={onClose}
      onSubmit={add}
      footer={
        <Button kind="primary" refusal={refusal} onClick={add}>
          Add
        </Button>
      }
    >
      <Field
        label="Name"
        hint="A request gets its role from its token, the auth hook or its headers. The role exists once it has a permission."
      >
        {(id) => (
          <Combobox
            id={id}
            isLive
            name="Role name"
            value={name}
            options={known.map((value) => ({ value }))}
            placeholder="customer"
            onChange={setName}
          />
        )}
      </Field>
    </Dialog>
  );
}

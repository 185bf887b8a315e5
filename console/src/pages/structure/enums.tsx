import { useState } from 'preact/hooks';
import { readOnlyRefusal } from '../../api/settings.ts';
import { type EnumType, readEnums } from '../../api/structure.ts';
import { useResource } from '../../api/use-resource.ts';
import { canDefine, type Definition } from '../../model/definitions.ts';
import { type SourceOverview, tableId } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';

/** Returns true if the kind has enum types. */
export function hasEnums(kind: string): boolean {
  return canDefine(STRUCTURES[kind], 'create-enum');
}

/** Enum types of a source. */
export function Enums({ source, version }: { readonly source: SourceOverview; readonly version: number }) {
  const { value, failure, isLoading, reload } = useResource((signal) => readEnums(source, signal), `${source.name} ${version}`, {
    keeps: true,
  });
  const [opened, setOpened] = useState<{ readonly form: 'new' | 'edit' | 'drop'; readonly type?: EnumType } | null>(null);
  const close = (): void => setOpened(null);
  const { form, type } = opened ?? {};
  return (
    <section class="card">
      <header>
        <h2 class="grow">Enum types</h2>
        <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => setOpened({ form: 'new' })}>
          New enum type
        </Button>
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the enum types" />}
      {value?.length === 0 && (
        <EmptyState icon="metadata" title="No enum types">
          An enum type has a fixed list of values. Columns of that type accept no others.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <ListTable name="Enum types" columns={['Type', 'Values', ACTIONS]}>
          {value.map((each) => (
            <tr key={tableId(each.name)}>
              <td>
                <strong>{tableId(each.name)}</strong>
                {each.comment !== '' && <p class="muted small">{each.comment}</p>}
              </td>
              <td>{each.values.join(', ')}</td>
              <td class="nowrap">
                <Button
                  small
                  kind="quiet"
                  icon="edit"
                  name={`Edit ${tableId(each.name)}`}
                  refusal={readOnlyRefusal}
                  onClick={() => setOpened({ form: 'edit', type: each })}
                />
                <Button
                  small
                  kind="quiet"
                  icon="trash"
                  name={`Drop ${tableId(each.name)}`}
                  refusal={readOnlyRefusal}
                  onClick={() => setOpened({ form: 'drop', type: each })}
                />
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {form === 'new' && <NewEnum source={source} onClose={close} onDone={reload} />}
      {form === 'edit' && type !== undefined && <EditEnum source={source} type={type} onClose={close} onDone={reload} />}
      {form === 'drop' && type !== undefined && (
        <DefinitionDialog
          title={`Drop ${tableId(type.name)}`}
          action="Drop type"
          source={source}
          definitions={[{ kind: 'drop-enum', enum: type.name }]}
          drops
          onClose={close}
          onDone={reload}
        />
      )}
    </section>
  );
}

interface EnumDialogProps {
  readonly source: SourceOverview;
  onClose(): void;
  onDone(): void;
}

function NewEnum({ source, onClose, onDone }: EnumDialogProps) {
  const [schema, setSchema] = useState(source.defaultSchema);
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const values = text.split('\n').filter((line) => line !== '');
  return (
    <DefinitionDialog
      title="New enum type"
      action="Create type"
      source={source}
      definitions={[{ kind: 'create-enum', enum: { schema, name }, values }]}
      refusal={name === '' ? 'Enter a name' : values.length === 0 ? 'Enter values' : undefined}
      onClose={onClose}
      onDone={onDone}
    >
      <div class="row fields">
        <TextField label="Name" value={name} onInput={setName} />
        <TextField label="Schema" value={schema} onInput={setSchema} />
      </div>
      <TextField label="Values" hint="One per line, in order" rows={5} value={text} onInput={setText} />
    </DefinitionDialog>
  );
}

function EditEnum({ source, type, onClose, onDone }: EnumDialogProps & { readonly type: EnumType }) {
  const [names, setNames] = useState<readonly string[]>(type.values);
  const [added, setAdded] = useState('');
  const [before, setBefore] = useState('');
  const [comment, setComment] = useState(type.comment);
  const definitions: readonly Definition[] = [
    ...(comment === type.comment ? [] : [{ kind: 'comment-enum', enum: type.name, comment } as const]),
    // `before` is an old name.
    ...(added === '' ? [] : [{ kind: 'add-enum-value', enum: type.name, value: added, before } as const]),
    ...type.values.flatMap((value, index) => {
      const to = names[index] ?? value;
      return to === value ? [] : [{ kind: 'rename-enum-value', enum: type.name, value, to } as const];
    }),
  ];
  return (
    <DefinitionDialog
      title={`Edit ${tableId(type.name)}`}
      action="Save"
      source={source}
      definitions={definitions}
      refusal={names.includes('') ? 'Enter all values: an enum type cannot lose one' : undefined}
      onClose={onClose}
      onDone={onDone}
    >
      <div class="row fields">
        {type.values.map((value, index) => (
          <TextField
            key={value}
            label={`Value ${value}`}
            value={names[index] ?? ''}
            onInput={(text) => setNames(names.map((each, place) => (place === index ? text : each)))}
          />
        ))}
      </div>
      <div class="row fields">
        <TextField label="New value" value={added} onInput={setAdded} />
        <Field label="Before">
          {(id) => (
            <select id={id} class="select" value={before} onChange={(event) => setBefore(event.currentTarget.value)}>
              <option value="">at the end</option>
              {type.values.map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <TextField label="Comment" value={comment} onInput={setComment} />
    </DefinitionDialog>
  );
}

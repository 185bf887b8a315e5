import { enumSql, readEnums } from '../../api/structure.ts';
import { useResource } from '../../api/use-resource.ts';
import type { ColumnDefinition } from '../../model/definitions.ts';
import type { StructureForm } from '../../../../packages/model/structure-form.ts';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Check } from '../../parts/field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import type { DefinedSource } from './definition-dialog.tsx';

interface ColumnFieldsProps {
  readonly form: StructureForm;
  readonly draft: ColumnDefinition;
  /** Enum types of the source. */
  readonly types: readonly string[];
  /** Names of the attributes that cannot be changed. */
  readonly fixed?: readonly (keyof ColumnDefinition)[];
  readonly hasComment: boolean;
  onChange(draft: ColumnDefinition): void;
}

/** Names of the enum types of a source in SQL; none until they have been read. */
export function useEnumNames(source: DefinedSource): readonly string[] {
  const { value = [] } = useResource((signal) => readEnums(source, signal), source.name);
  return value.map((each) => enumSql(each, source.kind));
}

/** Fields of a column. */
export function ColumnFields({ form, draft, types, fixed = [], hasComment, onChange }: ColumnFieldsProps) {
  const set = (changes: Partial<ColumnDefinition>): void => onChange({ ...draft, ...changes });
  return (
    <>
      <div class="row fields">
        {!fixed.includes('name') && <TextField label="Name" value={draft.name} onInput={(name) => set({ name })} />}
        {!fixed.includes('type') && (
          <ComboboxField
            label="Type"
            value={draft.type}
            options={[...types, ...form.types].map((value) => ({ value }))}
            isLive
            onChange={(type) => set({ type })}
          />
        )}
        {!fixed.includes('default') && !draft.isGenerated && (
          <TextField label="Default" hint="SQL expression" value={draft.default} onInput={(value) => set({ default: value })} />
        )}
      </div>
      <div class="row">
        {!fixed.includes('isRequired') && (
          <Check label="Not null" checked={draft.isRequired} onChange={(isRequired) => set({ isRequired })} />
        )}
        {!fixed.includes('isGenerated') && (
          <Check
            label="Generated number"
            title={form.generated.clause}
            checked={draft.isGenerated}
            onChange={(isGenerated) => set({ isGenerated, ...(isGenerated && draft.type === '' ? { type: form.generated.type } : {}) })}
          />
        )}
      </div>
      {hasComment && <TextField label="Comment" value={draft.comment} onInput={(comment) => set({ comment })} />}
    </>
  );
}

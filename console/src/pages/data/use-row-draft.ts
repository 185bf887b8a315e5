import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { insertRow, updateRow } from '../../api/rows.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { keyFields, type NamedTableInfo } from '../../api/table-info.ts';
import { type FieldType, readType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import type { JsonObject } from '../../model/json.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { columnOfError, type ColumnDraft, type Drafts, draftsOf, isUnchanged, valuesOf } from '../../model/row-draft.ts';
import { showToast } from '../../parts/toast.tsx';

/** A column that the persona can write. */
export interface WritableColumn {
  readonly type: FieldType;
  /** Values of an enum or of a check constraint; undefined if they are not listed. */
  readonly choices: readonly string[] | undefined;
}

/** Reads the columns that the persona can insert or update, in the order of the table. @throws Failure */
export async function readWritable(
  as: Persona,
  info: NamedTableInfo,
  input: 'insertInput' | 'setInput',
): Promise<ReadonlyMap<string, WritableColumn>> {
  const name = info.names[input];
  const fields = (name === undefined ? undefined : await readType(as, name))?.inputFields;
  const found = info.columns.flatMap((column) => {
    const field = info.columnNames.get(column.name);
    const type = field === undefined ? undefined : fields?.get(field);
    return type === undefined || field === undefined ? [] : [{ field, type, values: column.values }];
  });
  return new Map(
    await Promise.all(
      found.map(async ({ field, type, values }): Promise<[string, WritableColumn]> => {
        const isEnum = type.kind === 'ENUM' && !type.text.startsWith('[');
        return [field, { type, choices: isEnum ? (await readType(as, type.name))?.enumValues.map((each) => each.name) : values }];
      }),
    ),
  );
}

function hasKey(row: JsonObject, info: NamedTableInfo): boolean {
  const key = keyFields(info);
  return key.length > 0 && key.every((column) => row[column] !== undefined);
}

function keyOf(row: JsonObject, info: NamedTableInfo): JsonObject {
  return Object.fromEntries(keyFields(info).map((column) => [column, row[column] ?? null]));
}

/** Columns of a copy: all but those of the key that the database fills in. */
function copiedColumns(info: NamedTableInfo, writable: ReadonlyMap<string, WritableColumn>): readonly string[] {
  const filled = new Set(
    info.columns
      .filter(({ name, hasDefault }) => hasDefault && info.primaryKey.includes(name))
      .map(({ name }) => info.columnNames.get(name)),
  );
  return [...writable.keys()].filter((name) => !filled.has(name));
}

interface RowDraftProps {
  readonly info: NamedTableInfo;
  /** `null` for a new row. */
  readonly row: JsonObject | null;
  /** Row whose values a new row starts with. */
  readonly copied: JsonObject | undefined;
  onWritten(): void;
}

/** Edited columns of a row, and how to save them. */
export function useRowDraft({ info, row, copied, onWritten }: RowDraftProps) {
  const as = persona.value;
  /** Undefined until the first edit of a copy, whose columns are known only then. */
  const [edited, setEdited] = useState<Drafts | undefined>(copied === undefined ? {} : undefined);
  const [failure, setFailure] = useState<Failure>();
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const { value: writable, failure: unread } = useResource(
    () => readWritable(as, info, row === null ? 'insertInput' : 'setInput'),
    row === null ? 'insert' : 'update',
  );
  const drafts = edited ?? (copied === undefined || writable === undefined ? {} : draftsOf(copied, copiedColumns(info, writable)));
  const set = (changes: Drafts): void => {
    const next: Record<string, ColumnDraft> = { ...drafts, ...changes };
    for (const [name, draft] of Object.entries(changes)) {
      if (draft.kind === 'unset' || (row !== null && isUnchanged(row[name], draft))) delete next[name];
    }
    setEdited(next);
  };
  /** Returns true if the row was written. Otherwise the form shows why not. */
  const save = async (): Promise<boolean> => {
    if (refusal !== undefined) return false;
    const { values, problems } = valuesOf(drafts, new Map([...(writable ?? [])].map(([name, { type }]) => [name, type.text])));
    setErrors(problems);
    if (Object.keys(problems).length > 0) return false;
    setBusy(true);
    setFailure(undefined);
    try {
      const done = row === null ? await insertRow(as, info.names, values) : await updateRow(as, info.names, keyOf(row, info), values);
      if (done === 0) throw new Error(`No row was updated: ${personaLabel(as)} cannot update it, or it no longer exists.`);
      showToast(row === null ? 'Row inserted' : 'Row updated');
      setEdited({});
      onWritten();
      return true;
    } catch (error) {
      const found = failureOf(error);
      const column = columnOfError(found.message, found.path, writable?.keys() ?? []);
      if (column === undefined) setFailure(found);
      else setErrors({ [column]: found.message });
      return false;
    } finally {
      setBusy(false);
    }
  };
  const canWrite = writable !== undefined && writable.size > 0 && (row === null || hasKey(row, info));
  const refusal = isReadOnly
    ? READ_ONLY_REASON
    : !canWrite
      ? `${personaLabel(as)} has no ${row === null ? 'insert' : 'update'} permission`
      : row !== null && Object.keys(drafts).length === 0
        ? 'No changes'
        : isBusy
          ? 'Saving …'
          : undefined;
  const isEdited = Object.keys(edited ?? {}).length > 0;
  return { drafts, isEdited, errors, failure, unread, writable, refusal, set, save };
}

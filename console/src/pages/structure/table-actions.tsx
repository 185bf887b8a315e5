import { useState } from 'preact/hooks';
import { readOnlyRefusal } from '../../api/settings.ts';
import type { TableSize } from '../../api/structure.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { go } from '../../browser/place.ts';
import { canDefine, type Definition, type SqlName } from '../../model/definitions.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';
import { sizeText } from './size-text.ts';

interface TableActionsProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
  /** Undefined for views. */
  readonly size: TableSize | undefined;
  onDone(): void;
}

/** Size and comment of a table, and the dialogs that rename and drop it. */
export function TableActions({ table, info, size, onDone }: TableActionsProps) {
  const [opened, setOpened] = useState<'edit' | 'drop' | null>(null);
  const form = STRUCTURES[table.kind];
  const name: SqlName = { schema: table.schema, name: table.name };
  const source = { name: table.source, kind: table.kind };
  const close = (): void => setOpened(null);
  return (
    <section class="card" aria-label="Table">
      <header>
        <h2 class="grow">Table</h2>
        {!table.isView && canDefine(form, 'rename-table') && (
          <Button small icon="edit" refusal={readOnlyRefusal} onClick={() => setOpened('edit')}>
            Edit table
          </Button>
        )}
        {!table.isView && canDefine(form, 'drop-table') && (
          <Button small icon="trash" refusal={readOnlyRefusal} onClick={() => setOpened('drop')}>
            Drop table …
          </Button>
        )}
      </header>
      <dl class="facts">
        {info.comment !== '' && <Fact name="Comment" value={info.comment} />}
        {size !== undefined && (
          <>
            <Fact name="Estimated rows" value={size.estimatedRows.toLocaleString()} />
            <Fact name="Size" value={`${sizeText(size.total)} (rows ${sizeText(size.rows)}, indexes ${sizeText(size.indexes)})`} />
          </>
        )}
      </dl>
      {opened === 'edit' && <EditTable table={table} comment={info.comment} onClose={close} onDone={onDone} />}
      {opened === 'drop' && (
        <DefinitionDialog
          title={`Drop ${tableId(table)}`}
          action="Drop table"
          source={source}
          definitions={[{ kind: 'drop-table', table: name }]}
          drops
          onClose={close}
          onDone={() => go(['data', table.source])}
        >
          <p>The table and its rows are deleted. This cannot be undone.</p>
        </DefinitionDialog>
      )}
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function EditTable({
  table,
  comment: before,
  onClose,
  onDone,
}: {
  readonly table: TableOverview;
  readonly comment: string;
  onClose(): void;
  onDone(): void;
}) {
  const [name, setName] = useState(table.name);
  const [comment, setComment] = useState(before);
  const form = STRUCTURES[table.kind];
  const target: SqlName = { schema: table.schema, name: table.name };
  const definitions: readonly Definition[] = [
    ...(comment === before ? [] : [{ kind: 'comment-table', table: target, comment } as const]),
    ...(name === table.name ? [] : [{ kind: 'rename-table', table: target, to: name } as const]),
  ];
  const renamed = (): void => {
    if (name === table.name) onDone();
    else go(['data', table.source, tableId({ schema: table.schema, name })], { tab: 'structure' });
  };
  return (
    <DefinitionDialog
      title={`Edit ${tableId(table)}`}
      action="Save"
      source={{ name: table.source, kind: table.kind }}
      definitions={definitions}
      onClose={onClose}
      onDone={renamed}
    >
      <TextField label="Name" hint="The metadata follows the new name." value={name} onInput={setName} />
      {canDefine(form, 'comment-table') && <TextField label="Comment" value={comment} onInput={setComment} />}
    </DefinitionDialog>
  );
}

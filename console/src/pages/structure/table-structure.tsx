import { useState } from 'preact/hooks';
import { readOnlyRefusal } from '../../api/settings.ts';
import { readStructure, type TableConstraint, type TableIndex, type TableStructure, type DatabaseTrigger } from '../../api/structure.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { canDefine, type Definition, type SqlName } from '../../model/definitions.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { CONSTRAINT_NAMES, ConstraintDialog } from './constraint-dialog.tsx';
import { DefinitionDialog } from './definition-dialog.tsx';
import { IndexDialog } from './index-dialog.tsx';
import { sizeText } from './size-text.ts';
import { TableActions } from './table-actions.tsx';

interface TableStructureProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
  /** Reads the description of the table again. */
  onDone(): void;
}

/** Size, constraints, indexes and triggers of a table, with the forms that change them. */
export function TableStructureView(props: TableStructureProps) {
  const { table, info } = props;
  const { value, failure, isLoading, reload } = useResource(
    (signal) => readStructure(table, signal),
    `${table.source} ${tableId(table)} ${info.version}`,
    { keeps: true },
  );
  const onDone = (): void => {
    reload();
    props.onDone();
  };
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} onRetry={reload} />;
  if (value === undefined) return isLoading ? <Loading what="the structure" /> : null;
  const parts = { table, info, structure: value, onDone };
  return (
    <>
      <TableActions table={table} info={info} size={value.size} onDone={onDone} />
      <Constraints {...parts} />
      <Indexes {...parts} />
      <Triggers triggers={value.triggers} />
    </>
  );
}

interface PartProps {
  readonly table: TableOverview;
  readonly info: TableInfo;
  readonly structure: TableStructure;
  onDone(): void;
}

function Constraints({ table, info, structure: { constraints }, onDone }: PartProps) {
  const [opened, setOpened] = useState<'new' | TableConstraint | null>(null);
  const close = (): void => setOpened(null);
  const targets = new Map(info.foreignKeys.map((key) => [key.constraint, labelOf(key.table)]));
  return (
    <section class="card">
      <header>
        <h2 class="grow">Constraints</h2>
        {!table.isView && (
          <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => setOpened('new')}>
            Add constraint
          </Button>
        )}
      </header>
      {constraints.length === 0 ? (
        <p class="muted">No constraints</p>
      ) : (
        <ListTable name="Constraints" columns={['Constraint', 'Type', 'Definition', ACTIONS]}>
          {constraints.map((each) => {
            const target = targets.get(each.name);
            return (
              <tr key={`${each.kind} ${each.name}`}>
                <td>{each.name}</td>
                <td>
                  {CONSTRAINT_NAMES[each.kind]}
                  {target !== undefined && (
                    <>
                      {' to '}
                      <a href={hrefOf(['data', table.source, target])}>{target}</a>
                    </>
                  )}
                </td>
                <td class="mono small">{each.definition}</td>
                <td class="nowrap">
                  {dropOf(table, each) !== undefined && (
                    <Button
                      small
                      kind="quiet"
                      icon="trash"
                      name={`Drop constraint ${each.name}`}
                      refusal={readOnlyRefusal}
                      onClick={() => setOpened(each)}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      {opened === 'new' && <ConstraintDialog table={table} info={info} onClose={close} onDone={onDone} />}
      {opened !== null && opened !== 'new' && (
        <Drop table={table} what={`constraint ${opened.name}`} definition={dropOf(table, opened)} onClose={close} onDone={onDone} />
      )}
    </section>
  );
}

/** Returns the statement that drops a constraint; undefined if the kind has none. */
function dropOf(table: TableOverview, { kind, name: constraint }: TableConstraint): Definition | undefined {
  if (kind === 'other' || !canDefine(STRUCTURES[table.kind], `drop-${kind}`)) return undefined;
  return { kind: `drop-${kind}`, table: nameOf(table), constraint };
}

function nameOf({ schema, name }: TableOverview): SqlName {
  return { schema, name };
}

function Drop({
  table,
  what,
  definition,
  onClose,
  onDone,
}: {
  readonly table: TableOverview;
  readonly what: string;
  readonly definition: Definition | undefined;
  onClose(): void;
  onDone(): void;
}) {
  return (
    <DefinitionDialog
      title={`Drop ${what}`}
      action="Drop"
      source={{ name: table.source, kind: table.kind }}
      definitions={definition === undefined ? [] : [definition]}
      drops
      onClose={onClose}
      onDone={onDone}
    />
  );
}

function Indexes({ table, info, structure: { indexes }, onDone }: PartProps) {
  const [opened, setOpened] = useState<'new' | TableIndex | null>(null);
  const form = STRUCTURES[table.kind];
  const close = (): void => setOpened(null);
  return (
    <section class="card">
      <header>
        <h2 class="grow">Indexes</h2>
        {canDefine(form, 'create-index') && !(table.isView && indexes.length === 0) && (
          <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => setOpened('new')}>
            New index
          </Button>
        )}
      </header>
      {indexes.length === 0 ? (
        <p class="muted">No indexes</p>
      ) : (
        <ListTable name="Indexes" columns={['Index', 'Definition', 'Size', ACTIONS]}>
          {indexes.map((each) => (
            <tr key={each.name}>
              <td>
                {each.name} {each.isUnique && <span class="badge">unique</span>}
              </td>
              <td class="mono small">{each.definition}</td>
              <td class="number nowrap">{each.size === undefined ? '' : sizeText(each.size)}</td>
              <td class="nowrap">
                {canDefine(form, 'drop-index') && (
                  <Button
                    small
                    kind="quiet"
                    icon="trash"
                    name={`Drop index ${each.name}`}
                    refusal={
                      readOnlyRefusal ??
                      (each.constraint === '' ? undefined : `It belongs to the constraint ${each.constraint}: drop that instead`)
                    }
                    onClick={() => setOpened(each)}
                  />
                )}
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {opened === 'new' && <IndexDialog table={table} info={info} onClose={close} onDone={onDone} />}
      {opened !== null && opened !== 'new' && (
        <Drop
          table={table}
          what={`index ${opened.name}`}
          definition={{ kind: 'drop-index', table: nameOf(table), index: opened.name }}
          onClose={close}
          onDone={onDone}
        />
      )}
    </section>
  );
}

function Triggers({ triggers }: { readonly triggers: readonly DatabaseTrigger[] }) {
  return (
    <section class="card">
      <header>
        <h2>Triggers of the database</h2>
      </header>
      {triggers.length === 0 ? (
        <p class="muted">No triggers</p>
      ) : (
        <ListTable name="Triggers" columns={['Trigger', 'Definition', 'State']}>
          {triggers.map(({ name, definition, isEnabled }) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="mono small">{definition}</td>
              <td>{isEnabled ? 'enabled' : <span class="badge badge-warn">disabled</span>}</td>
            </tr>
          ))}
        </ListTable>
      )}
    </section>
  );
}

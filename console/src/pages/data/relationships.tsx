import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { SuggestedRelationships } from '../../features/relationship-suggestions.tsx';
import { isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { targetDraft } from '../../model/relationship-target.ts';
import { memberOf, membersOf, withMember, tableSteps } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Neighbourhood } from '../../parts/neighbourhood.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { tell } from '../../parts/toast.tsx';
import { RemoteRelationship } from './remote-relationship.tsx';

const LISTS = [
  ['object_relationships', 'a row'],
  ['array_relationships', 'rows'],
  ['remote_relationships', 'elsewhere'],
] as const;

interface RelationshipsProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
}

export function Relationships({ data, table, info }: RelationshipsProps) {
  const [open, setOpen] = useState<'manual' | 'remote' | { readonly key: string; readonly name: string } | null>(null);
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const all = LISTS.flatMap(([key, leads]) =>
    membersOf(info.entry, key).map((member) => ({ key, leads, member, name: String(member['name']) })),
  );
  const taken = [...info.columnNames.values(), ...all.map(({ name }) => name)];
  const drop = async (key: string, name: string): Promise<void> => {
    try {
      await makeChange({
        title: `Drop the relationship ${name} of ${tableId(table)}`,
        tables: [address],
        steps: ([entry]) =>
          entry === null || entry === undefined ? [] : tableSteps(address, entry, withMember(entry, key, 'name', name, null)),
      });
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
    }
  };
  return (
    <>
      <section class="card">
        <header>
          <Icon name="link" />
          <h2 class="grow">
            Relationships <span class="badge">{all.length}</span>
          </h2>
          <Button small icon="plus" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => setOpen('manual')}>
            By hand
          </Button>
          <Button
            small
            icon="plus"
            title={`${table.kind}_create_remote_relationship`}
            refusal={isReadOnly ? READ_ONLY_REASON : undefined}
            onClick={() => setOpen('remote')}
          >
            To elsewhere
          </Button>
        </header>
        {all.length === 0 ? (
          <p class="muted">None yet: a relationship is a field that leads from a row to rows of another table.</p>
        ) : (
          <ListTable name="Relationships" columns={['Field', 'Leads to', 'By', ACTIONS]}>
            {all.map(({ key, leads, member, name }) => (
              <tr key={name}>
                <td>
                  <strong>{name}</strong>
                  {typeof member['comment'] === 'string' && <p class="muted small">{member['comment']}</p>}
                </td>
                <td>
                  <span class="muted">{leads}</span> {targetOf(member, info)}
                </td>
                <td class="mono small">{byOf(member)}</td>
                <td class="nowrap">
                  <Button small kind="quiet" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => setOpen({ key, name })}>
                    {key === 'remote_relationships' ? 'Edit' : 'Rename'}
                  </Button>
                  <Button small kind="quiet" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => void drop(key, name)}>
                    Drop …
                  </Button>
                </td>
              </tr>
            ))}
          </ListTable>
        )}
      </section>
      {all.length > 0 && (
        <section class="card" aria-label="Diagram">
          <Neighbourhood
            label={tableId(table)}
            neighbours={all.map(({ key, member, name }) => {
              const label = targetOf(member, info);
              const target = findTable(data, table.source, label);
              return {
                name,
                label,
                href: target === undefined ? undefined : hrefOf(['data', table.source, tableId(target)], { tab: 'relationships' }),
                isMany: key === 'array_relationships',
              };
            })}
          />
        </section>
      )}
      <SuggestedRelationships
        source={{ name: table.source, kind: table.kind }}
        version={data.version}
        table={tableJson(table)}
        taken={taken}
      />
      {open === 'manual' && <ManualRelationship data={data} table={table} info={info} onClose={() => setOpen(null)} />}
      {open === 'remote' && <RemoteRelationship data={data} table={table} info={info} before={undefined} onClose={() => setOpen(null)} />}
      {open !== null &&
        typeof open === 'object' &&
        (open.key === 'remote_relationships' ? (
          <RemoteRelationship
            data={data}
            table={table}
            info={info}
            before={memberOf(info.entry, open.key, 'name', open.name)}
            onClose={() => setOpen(null)}
          />
        ) : (
          <Rename table={table} name={open.name} onClose={() => setOpen(null)} />
        ))}
    </>
  );
}

function targetOf(member: JsonObject, info: TableInfo): string {
  const using = isObject(member['using']) ? member['using'] : {};
  const key = using['foreign_key_constraint_on'];
  if (isObject(key) && key['table'] !== undefined) return labelOf(key['table']);
  if (key !== undefined) {
    const columns = Array.isArray(key) ? (key as Json[]).map(String) : [String(key)];
    const found = info.foreignKeys.find((each) => each.columns.map(([column]) => column).join() === columns.join());
    return found === undefined ? '' : labelOf(found.table);
  }
  const manual = using['manual_configuration'];
  if (isObject(manual)) return labelOf(manual['remote_table'] ?? '');
  const definition = isObject(member['definition']) ? member['definition'] : {};
  const source = definition['to_source'];
  if (isObject(source)) return `${String(source['source'])} ${labelOf(source['table'] ?? '')}`;
  const { to, remoteSchema } = targetDraft(definition, labelOf);
  return to === 'remote' ? remoteSchema : '';
}

function byOf(member: JsonObject): string {
  const using = isObject(member['using']) ? member['using'] : {};
  const key = using['foreign_key_constraint_on'];
  if (key !== undefined)
    return isObject(key) ? printJson(key['column'] ?? key['columns'] ?? null).replaceAll('"', '') : printJson(key).replaceAll('"', '');
  const manual = using['manual_configuration'];
  if (isObject(manual)) return printJson(manual['column_mapping'] ?? null);
  const { to, mapping, field } = targetDraft(member['definition'], labelOf);
  return to === 'remote' ? field : mapping.map(({ key: own, value }) => `${own} = ${value}`).join(', ');
}

function Rename({ table, name, onClose }: { readonly table: TableOverview; readonly name: string; onClose(): void }) {
  const [next, setNext] = useState(name);
  const [failure, setFailure] = useState<Failure>();
  const step = (from: string, to: string) => ({
    type: `${table.kind}_rename_relationship`,
    args: { source: table.source, table: tableJson(table), name: from, new_name: to },
  });
  const apply = async (): Promise<void> => {
    try {
      await makeChange({
        title: `Rename the relationship ${name} to ${next}`,
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
        <Button
          kind="primary"
          refusal={next.trim() === '' || next === name ? 'Give it another name' : undefined}
          onClick={() => void apply()}
        >
          Rename
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Field label="Name" hint="Permissions that use it are changed with it; queries of clients are not.">
        {(id) => (
          <input id={id} class="input" value={next} spellcheck={false} autofocus onInput={(event) => setNext(event.currentTarget.value)} />
        )}
      </Field>
    </Dialog>
  );
}

function ManualRelationship({ data, table, info, onClose }: RelationshipsProps & { onClose(): void }) {
  const [name, setName] = useState('');
  const [form, setForm] = useState<'object' | 'array'>('object');
  const [target, setTarget] = useState('');
  const [own, setOwn] = useState('');
  const [other, setOther] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const tables = data.sources.find(({ name: each }) => each === table.source)?.tables ?? [];
  const found = findTable(data, table.source, target);
  const { value: columns } = useResource(
    async (signal) => (found === undefined ? [] : (await readTableInfo(found, signal)).columns),
    `${target}`,
  );
  const apply = async (): Promise<void> => {
    if (found === undefined) return;
    const using = { manual_configuration: { remote_table: tableJson(found), column_mapping: { [own]: other } } };
    try {
      await makeChange({
        title: `Relationship ${name}`,
        steps: () => [
          { type: `${table.kind}_create_${form}_relationship`, args: { source: table.source, table: tableJson(table), name, using } },
        ],
        inverse: [{ type: `${table.kind}_drop_relationship`, args: { source: table.source, table: tableJson(table), relationship: name } }],
      });
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={`Relationship of ${tableId(table)}`}
      onClose={onClose}
      onSubmit={() => void apply()}
      footer={
        <Button
          kind="primary"
          refusal={name === '' || found === undefined || own === '' || other === '' ? 'Fill in all of it' : undefined}
          onClick={() => void apply()}
        >
          Make it
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <p class="muted">By columns that are equal, where no foreign key says so: for views, say.</p>
      <Segments
        name="Leads to"
        options={[
          ['object', 'One row'],
          ['array', 'Many rows'],
        ]}
        chosen={form}
        onChoose={setForm}
      />
      <Field label="Name">
        {(id) => <input id={id} class="input" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <Field label="Table">
        {(id) => (
          <Combobox
            id={id}
            name="Table"
            value={target}
            options={tables.map((each) => ({ value: tableId(each) }))}
            strict
            onChange={setTarget}
          />
        )}
      </Field>
      <div class="row">
        <Field label="Column here">
          {(id) => (
            <Combobox
              id={id}
              name="Column here"
              value={own}
              options={info.columns.map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setOwn}
            />
          )}
        </Field>
        <Field label="Column there">
          {(id) => (
            <Combobox
              id={id}
              name="Column there"
              value={other}
              options={(columns ?? []).map((each) => ({ value: each.name, note: each.type }))}
              strict
              onChange={setOther}
            />
          )}
        </Field>
      </div>
    </Dialog>
  );
}

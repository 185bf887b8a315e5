import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { hrefOf } from '../../browser/place.ts';
import { SuggestedRelationships } from '../../features/relationship-suggestions.tsx';
import { isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { targetDraft } from '../../model/relationship-target.ts';
import { labelOf } from '../../model/steps.ts';
import { memberOf, membersOf, tableSteps, withMember } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Neighbourhood } from '../../parts/neighbourhood.tsx';
import { showToast } from '../../parts/toast.tsx';
import { ManualRelationship } from './manual-relationship.tsx';
import { RemoteRelationship } from './remote-relationship.tsx';
import { RenameRelationship } from './rename-relationship.tsx';

const LISTS = [
  ['object_relationships', 'object'],
  ['array_relationships', 'array'],
  ['remote_relationships', 'remote'],
] as const;

interface RelationshipsProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
}

/** A relationship of the table, as one of its three lists has it. */
interface ListedRelationship {
  readonly key: (typeof LISTS)[number][0];
  /** Type of the relationship, for display. */
  readonly type: string;
  readonly member: JsonObject;
  readonly name: string;
}

/** A dialog for a new relationship, or for a stored one. */
type OpenDialog = 'manual' | 'remote' | ListedRelationship;

export function Relationships({ data, table, info }: RelationshipsProps) {
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const all = LISTS.flatMap(([key, type]) =>
    membersOf(info.entry, key).map((member): ListedRelationship => ({ key, type, member, name: String(member['name']) })),
  );
  const names = [...info.columnNames.values(), ...all.map(({ name }) => name)];
  const close = (): void => setOpen(null);
  return (
    <>
      <RelationshipList table={table} info={info} all={all} onOpen={setOpen} />
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
        version={info.version}
        table={tableJson(table)}
        usedNames={names}
      />
      {open === 'manual' && <ManualRelationship data={data} table={table} info={info} onClose={close} />}
      {open === 'remote' && <RemoteRelationship data={data} table={table} info={info} before={undefined} onClose={close} />}
      {open !== null &&
        typeof open === 'object' &&
        (open.key === 'remote_relationships' ? (
          <RemoteRelationship
            data={data}
            table={table}
            info={info}
            before={memberOf(info.entry, open.key, 'name', open.name)}
            onClose={close}
          />
        ) : (
          <RenameRelationship table={table} name={open.name} onClose={close} />
        ))}
    </>
  );
}

async function deleteRelationship(table: TableOverview, { key, name }: ListedRelationship): Promise<void> {
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  try {
    await makeChange({
      title: `Delete relationship ${name} of ${tableId(table)}`,
      tables: [address],
      steps: ([entry]) =>
        entry === null || entry === undefined ? [] : tableSteps(address, entry, withMember(entry, key, 'name', name, null)),
    });
  } catch (error) {
    showToast(failureOf(error).message, { isError: true });
  }
}

function RelationshipList({
  table,
  info,
  all,
  onOpen,
}: Pick<RelationshipsProps, 'table' | 'info'> & { readonly all: readonly ListedRelationship[]; onOpen(dialog: OpenDialog): void }) {
  return (
    <section class="card">
      <header>
        <Icon name="link" />
        <h2 class="grow">
          Relationships <span class="badge">{all.length}</span>
        </h2>
        <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => onOpen('manual')}>
          Add relationship
        </Button>
        <Button
          small
          icon="plus"
          title={`${table.kind}_create_remote_relationship`}
          refusal={readOnlyRefusal}
          onClick={() => onOpen('remote')}
        >
          Add remote relationship
        </Button>
      </header>
      {all.length === 0 ? (
        <p class="muted">No relationships yet. A relationship is a field with the related rows of another table.</p>
      ) : (
        <ListTable name="Relationships" columns={['Field', 'Target', 'Mapping', ACTIONS]}>
          {all.map((relationship) => {
            const { key, type, member, name } = relationship;
            return (
              <tr key={name}>
                <td>
                  <strong>{name}</strong>
                  {typeof member['comment'] === 'string' && <p class="muted small">{member['comment']}</p>}
                </td>
                <td>
                  <span class="muted">{type}</span> {targetOf(member, info)}
                </td>
                <td class="mono small">{mappingOf(member)}</td>
                <td class="nowrap">
                  <Button small kind="quiet" refusal={readOnlyRefusal} onClick={() => onOpen(relationship)}>
                    {key === 'remote_relationships' ? 'Edit' : 'Rename'}
                  </Button>
                  <Button small kind="quiet" refusal={readOnlyRefusal} onClick={() => void deleteRelationship(table, relationship)}>
                    Delete …
                  </Button>
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
    </section>
  );
}

/** Name of the table or the remote schema that a relationship leads to. */
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

/** Columns or arguments that the relationship joins by. */
function mappingOf(member: JsonObject): string {
  const using = isObject(member['using']) ? member['using'] : {};
  const key = using['foreign_key_constraint_on'];
  if (key !== undefined)
    return isObject(key) ? printJson(key['column'] ?? key['columns'] ?? null).replaceAll('"', '') : printJson(key).replaceAll('"', '');
  const manual = using['manual_configuration'];
  if (isObject(manual)) return printJson(manual['column_mapping'] ?? null);
  const { to, mapping, field } = targetDraft(member['definition'], labelOf);
  return to === 'remote' ? field : mapping.map(({ key: own, value }) => `${own} = ${value}`).join(', ');
}

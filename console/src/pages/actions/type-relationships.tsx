import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { TargetForm } from '../../features/target-form.tsx';
import { typeNamed, typesIn } from '../../model/action-document.ts';
import { isObject, type Json, type JsonObject, objectsIn } from '../../model/json.ts';
import { findTable, tableJson } from '../../model/overview.ts';
import { missingOf, NO_TARGET, type TargetDraft, targetDefinition, targetDraft } from '../../model/relationship-target.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { changeOfTypes } from './read-actions.ts';

interface Place {
  readonly type: string;
  readonly relationship: JsonObject;
}

/** Definition of a relationship in either of its two formats. */
function definitionOf(relationship: JsonObject): JsonObject {
  const { definition, type, source = 'default', remote_table: table, field_mapping: mapping } = relationship;
  if (isObject(definition)) return definition;
  return { to_source: { relationship_type: type ?? 'object', source, table: table ?? null, field_mapping: mapping ?? {} } };
}

/** Replaces or adds a relationship of a type; `null` removes it. */
function withRelationship(types: Json, type: string, name: string, relationship: JsonObject | null): JsonObject {
  const before = isObject(types) ? types : {};
  if (!typesIn(types).some((each) => each.list === 'objects' && each.name === type)) throw new Error(`The type ${type} no longer exists.`);
  const objects = objectsIn(before['objects']).map((each): JsonObject => {
    if (each['name'] !== type) return each;
    const { relationships, ...rest } = each;
    const all = objectsIn(relationships);
    const at = all.findIndex((other) => other['name'] === name);
    const next =
      relationship === null ? all.filter((_, index) => index !== at) : at < 0 ? [...all, relationship] : all.with(at, relationship);
    return next.length === 0 ? rest : { ...rest, relationships: next };
  });
  return { ...before, objects };
}

/** Relationships from custom types to tables and remote schemas. */
export function TypeRelationships({ types }: { readonly types: Json }) {
  const [edited, setEdited] = useState<Place | 'new' | null>(null);
  const objects = typesIn(types).filter(({ list }) => list === 'objects');
  const places = objects.flatMap(({ type, name }): readonly Place[] =>
    objectsIn(type['relationships']).map((relationship) => ({ type: name, relationship })),
  );
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">
          Relationships <span class="badge">{places.length}</span>
        </h2>
        <Button
          small
          icon="plus"
          refusal={readOnlyRefusal ?? (objects.length === 0 ? 'There are no object types' : undefined)}
          onClick={() => setEdited('new')}
        >
          Add relationship
        </Button>
      </header>
      {places.length === 0 ? (
        <p class="muted">No relationships yet. A relationship adds a field to a type with rows of a table that the role can read.</p>
      ) : (
        <ListTable name="Relationships of custom types" columns={['Field', 'Target', 'Mapping', ACTIONS]}>
          {places.map((place) => {
            const name = String(place.relationship['name']);
            const { target, mapping } = shown(definitionOf(place.relationship));
            return (
              <tr key={`${place.type}.${name}`}>
                <td>
                  <strong class="nowrap">
                    {place.type}.{name}
                  </strong>
                </td>
                <td>{target}</td>
                <td class="mono small">{mapping}</td>
                <td class="nowrap">
                  <Button small kind="quiet" name={`Edit ${place.type}.${name}`} refusal={readOnlyRefusal} onClick={() => setEdited(place)}>
                    Edit
                  </Button>
                  <Button
                    small
                    kind="quiet"
                    name={`Delete ${place.type}.${name}`}
                    refusal={readOnlyRefusal}
                    onClick={() =>
                      void attempt({
                        ...changeOfTypes(`Delete relationship ${place.type}.${name}`, (now) =>
                          withRelationship(now, place.type, name, null),
                        ),
                        review: true,
                      })
                    }
                  >
                    Delete …
                  </Button>
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      {edited !== null && <Edit types={types} place={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </section>
  );
}

function shown(definition: JsonObject): { readonly target: string; readonly mapping: string } {
  const draft = targetDraft(definition, labelOf);
  if (draft.to === 'remote') return { target: draft.remoteSchema, mapping: draft.field };
  return {
    target: `${draft.many ? 'array' : 'object'} ${draft.source} ${draft.table}`,
    mapping: draft.mapping.map(({ key, value }) => `${key} = ${value}`).join(', '),
  };
}

function Edit({ types, place, onClose }: { readonly types: Json; readonly place: Place | undefined; onClose(): void }) {
  const data = overview.value;
  const objects = typesIn(types).filter(({ list }) => list === 'objects');
  const [type, setType] = useState(place?.type ?? (objects.length === 1 ? (objects[0]?.name ?? '') : ''));
  const [name, setName] = useState(String(place?.relationship['name'] ?? ''));
  const idOf = (table: Json): string => labelOf(typeof table === 'string' ? { schema: 'public', name: table } : table);
  const [draft, setDraft] = useState<TargetDraft>(() =>
    place === undefined ? { ...NO_TARGET, source: data?.sources[0]?.name ?? '' } : targetDraft(definitionOf(place.relationship), idOf),
  );
  const fields = objectsIn(objects.find((each) => each.name === type)?.type['fields']);
  const missing = type === '' ? 'Select a type' : name.trim() === '' ? 'Enter a name' : missingOf(draft);
  const save = async (): Promise<boolean> => {
    const table = data === undefined ? undefined : findTable(data, draft.source, draft.table);
    if (draft.to === 'table' && table === undefined) throw new Error(`The source ${draft.source} has no tracked table ${draft.table}.`);
    const before = place === undefined ? undefined : definitionOf(place.relationship);
    const definition = targetDefinition(draft, table === undefined ? null : tableJson(table), before);
    const to = definition['to_source'];
    // Other tools read only the older format.
    const relationship: JsonObject =
      isObject(to) && place?.relationship['definition'] === undefined
        ? {
            name: name.trim(),
            type: to['relationship_type'] ?? 'object',
            source: draft.source,
            remote_table: to['table'] ?? null,
            field_mapping: to['field_mapping'] ?? {},
          }
        : { name: name.trim(), definition };
    const storedIn = (types: Json): JsonObject | undefined =>
      objectsIn(typeNamed(types, type)?.['relationships']).find((each) => each['name'] === name.trim());
    const done = await makeChange({
      ...changeOfTypes(`Relationship ${type}.${name.trim()}`, (now) => {
        if (place === undefined && storedIn(now) !== undefined)
          throw new Error(`The type ${type} already has a relationship ${name.trim()}.`);
        return withRelationship(now, type, name.trim(), relationship);
      }),
      draft: { before: place?.relationship ?? null, now: (_, [now = null]) => storedIn(now) ?? null, after: () => relationship },
    });
    return done !== null;
  };
  return (
    <FormDialog
      title={place === undefined ? 'New relationship' : `Relationship ${type}.${name}`}
      action="Save"
      operation="set_custom_types"
      refusal={missing}
      onClose={onClose}
      onSave={save}
    >
      {place === undefined && (
        <div class="row fields">
          <ComboboxField label="Type" value={type} options={objects.map((each) => ({ value: each.name }))} strict onChange={setType} />
          <TextField label="Name" value={name} onInput={setName} />
        </div>
      )}
      <TargetForm
        draft={draft}
        own={fields.map((field) => ({ value: String(field['name']), note: String(field['type']) }))}
        ownLabel="Field"
        onChange={setDraft}
      />
    </FormDialog>
  );
}

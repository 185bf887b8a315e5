import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import type { MetadataPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON, readOnlyRefusal } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { TargetForm } from '../../features/target-form.tsx';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { findTable, tableJson } from '../../model/overview.ts';
import { missingOf, type TargetDraft, targetDefinition, targetDraft } from '../../model/relationship-target.ts';
import type { RemoteTypes } from '../../model/schema-ticks.ts';
import { labelOf, type Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Relationships of a remote schema in the metadata, as arguments of the operations. */
export function relationshipsOf(remote: JsonObject): readonly JsonObject[] {
  return objectsIn(remote['remote_relationships']).flatMap(({ type_name: type = '', relationships }) =>
    objectsIn(relationships).map(({ name = '', definition = {} }) => ({
      remote_schema: remote['name'] ?? '',
      type_name: type,
      name,
      definition,
    })),
  );
}

export function remoteRelationshipStep(verb: 'create' | 'update' | 'delete', { definition = {}, ...place }: JsonObject): Step {
  return { type: `${verb}_remote_schema_remote_relationship`, args: verb === 'delete' ? place : { ...place, definition } };
}

const nameOf = ({ type_name: type, name }: JsonObject): string => `${String(type)}.${String(name)}`;

/** A relationship in the metadata, as arguments of the operations. */
function relationshipPart(relationship: JsonObject): MetadataPart {
  const remote = String(relationship['remote_schema']);
  const place = nameOf(relationship);
  return {
    only: { sections: ['remote_schemas'] },
    find: (metadata) => {
      const found = objectsIn(metadata['remote_schemas']).find((each) => each['name'] === remote);
      return (found === undefined ? [] : relationshipsOf(found)).find((each) => nameOf(each) === place) ?? null;
    },
  };
}

interface RelationshipsProps {
  readonly remote: string;
  /** Undefined if the server could not be introspected. */
  readonly types: RemoteTypes | undefined;
  readonly relationships: readonly JsonObject[];
}

/** Relationships from types of a remote schema to tables and other remote schemas. */
export function RemoteSchemaRelationships({ remote, types, relationships }: RelationshipsProps) {
  const [edited, setEdited] = useState<{ readonly before: JsonObject | undefined } | null>(null);
  return (
    <>
      <h3>Relationships</h3>
      <div class="row">
        {relationships.map((each) => (
          <span key={nameOf(each)} class="row-tight">
            <Button small onClick={() => setEdited({ before: each })}>
              {nameOf(each)}
            </Button>
            <Button
              small
              kind="quiet"
              icon="trash"
              name={`Delete ${nameOf(each)}`}
              refusal={readOnlyRefusal}
              onClick={() =>
                void attempt({
                  title: `Delete relationship ${nameOf(each)}`,
                  parts: [relationshipPart(each)],
                  steps: (_, [now = null]) => (now === null ? [] : [remoteRelationshipStep('delete', each)]),
                  draft: { before: each, now: (_, [now = null]) => now, after: () => null },
                  inverse: ([was = null]) => (isObject(was) ? [remoteRelationshipStep('create', was)] : []),
                })
              }
            />
          </span>
        ))}
        <Button small icon="plus" refusal={readOnlyRefusal} onClick={() => setEdited({ before: undefined })}>
          Add relationship
        </Button>
      </div>
      {edited !== null && <Edit remote={remote} types={types} before={edited.before} onClose={() => setEdited(null)} />}
    </>
  );
}

function Edit({
  remote,
  types,
  before,
  onClose,
}: {
  readonly remote: string;
  readonly types: RemoteTypes | undefined;
  readonly before: JsonObject | undefined;
  onClose(): void;
}) {
  const data = overview.value;
  const [type, setType] = useState(String(before?.['type_name'] ?? ''));
  const [name, setName] = useState(String(before?.['name'] ?? ''));
  const [draft, setDraft] = useState<TargetDraft>(() =>
    targetDraft(before?.['definition'], (table) => labelOf(typeof table === 'string' ? { schema: 'public', name: table } : table)),
  );
  const [failure, setFailure] = useState<Failure>();
  const roots = new Set(types?.roots.map((each) => each.type));
  const all = [...(types?.types.values() ?? [])].filter((each) => each.keyword === 'type' && !roots.has(each.name));
  const fields = all.find((each) => each.name === type)?.members ?? [];
  const missing = type === '' ? 'Select a type' : name.trim() === '' ? 'Enter a name' : missingOf(draft);
  const save = async (): Promise<void> => {
    if (missing !== undefined) return;
    setFailure(undefined);
    try {
      const table = data === undefined ? undefined : findTable(data, draft.source, draft.table);
      if (draft.to === 'table' && table === undefined) throw new Error(`The source ${draft.source} has no tracked table ${draft.table}.`);
      const args: JsonObject = {
        remote_schema: remote,
        type_name: type,
        name: name.trim(),
        definition: targetDefinition(draft, table === undefined ? null : tableJson(table), before?.['definition']),
      };
      const done = await makeChange({
        title: `Relationship ${nameOf(args)}`,
        parts: [relationshipPart(args)],
        steps: (_, [now = null]) => [remoteRelationshipStep(before === undefined || now === null ? 'create' : 'update', args)],
        draft: { before: before ?? null, now: (_, [now = null]) => now, after: () => args },
        inverse: ([was = null]) => [isObject(was) ? remoteRelationshipStep('update', was) : remoteRelationshipStep('delete', args)],
      });
      if (done !== null) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <Dialog
      title={before === undefined ? `New relationship of ${remote}` : `Relationship ${nameOf(before)}`}
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <Button
          kind="primary"
          title={`${before === undefined ? 'create' : 'update'}_remote_schema_remote_relationship`}
          refusal={isReadOnly ? READ_ONLY_REASON : missing}
          onClick={() => void save()}
        >
          {before === undefined ? 'Add' : 'Save'}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {before === undefined && (
        <div class="row fields">
          <ComboboxField label="Type" value={type} options={all.map((each) => ({ value: each.name }))} onChange={setType} />
          <TextField label="Name" value={name} onInput={setName} />
        </div>
      )}
      <TargetForm draft={draft} own={fields.map((each) => ({ value: each.name, note: each.type }))} ownLabel="Field" onChange={setDraft} />
    </Dialog>
  );
}

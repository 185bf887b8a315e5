import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isObject, type JsonObject, printJson } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';

/** The relationships of a remote schema's entry, as the operations take them. */
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

/** The operation that makes, changes or deletes a relationship. */
export function relationshipStep(verb: 'create' | 'update' | 'delete', { definition = {}, ...place }: JsonObject): Step {
  return { type: `${verb}_remote_schema_remote_relationship`, args: verb === 'delete' ? place : { ...place, definition } };
}

const labelOf = ({ type_name: type, name }: JsonObject): string => `${String(type)}.${String(name)}`;

/** Relationships from types of a remote schema to tables and to other remote schemas. */
export function Relationships({ remote, relationships }: { readonly remote: string; readonly relationships: readonly JsonObject[] }) {
  const [edited, setEdited] = useState<{ readonly before: JsonObject | undefined } | null>(null);
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const before = edited?.before;
  const template: JsonObject = {
    type_name: 'Country',
    name: 'customers',
    definition: { to_source: { source: 'default', table: 'customer', relationship_type: 'array', field_mapping: { code: 'country' } } },
  };
  return (
    <>
      <h3>Relationships</h3>
      <div class="row">
        {relationships.map((each) => (
          <span key={labelOf(each)} class="row-tight">
            <Button small onClick={() => setEdited({ before: each })}>
              {labelOf(each)}
            </Button>
            <Button
              small
              kind="quiet"
              icon="trash"
              name={`Delete ${labelOf(each)}`}
              refusal={refusal}
              onClick={() =>
                void attempt({
                  title: `Delete the relationship ${labelOf(each)}`,
                  steps: () => [relationshipStep('delete', each)],
                  inverse: [relationshipStep('create', each)],
                })
              }
            />
          </span>
        ))}
        <Button small icon="plus" refusal={refusal} onClick={() => setEdited({ before: undefined })}>
          Relate a type
        </Button>
      </div>
      {edited !== null && (
        <JsonDialog
          title={before === undefined ? `New relationship of ${remote}` : `Relationship ${labelOf(before)}`}
          text={printJson(before ?? template, 2)}
          action={before === undefined ? 'Add' : 'Save'}
          onClose={() => setEdited(null)}
          onSubmit={async (written) => {
            if (!isObject(written)) throw new SyntaxError('a relationship is an object');
            const args: JsonObject = { ...written, remote_schema: remote };
            if (before !== undefined && labelOf(args) !== labelOf(before))
              throw new SyntaxError('type_name and name stay as they are: delete the relationship and make another one');
            await makeChange({
              title: `Relationship ${labelOf(args)}`,
              steps: () => [relationshipStep(before === undefined ? 'create' : 'update', args)],
              inverse: [before === undefined ? relationshipStep('delete', args) : relationshipStep('update', before)],
            });
            setEdited(null);
          }}
        >
          <p class="muted">
            <code>field_mapping</code> leads from fields of the type to columns. <code>to_remote_schema</code> may stand in place of{' '}
            <code>to_source</code>.
          </p>
        </JsonDialog>
      )}
    </>
  );
}

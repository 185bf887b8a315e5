import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { readSections } from '../../api/sections.ts';
import { useResource } from '../../api/use-resource.ts';
import { type Endpoint, EndpointFields, endpointRefusal } from '../../features/endpoint-fields.tsx';
import { FormDialog } from '../../features/form-dialog.tsx';
import { objectOf, objectsIn } from '../../model/json.ts';
import { ComboboxField } from '../../parts/combobox.tsx';
import { TextField } from '../../parts/text-field.tsx';

interface SavedQuery {
  readonly collection: string;
  readonly name: string;
}

/** Creates a REST endpoint for a query of a collection. */
export function NewEndpoint({ onClose }: { onClose(): void }) {
  const [chosen, setChosen] = useState('');
  const [name, setName] = useState('');
  const [endpoint, setEndpoint] = useState<Endpoint>({ url: '', methods: ['GET'] });
  const { value: queries = [] } = useResource(readQueries, '');
  const query = queries.find((each) => labelOf(each) === chosen);
  const save = async (): Promise<boolean> => {
    if (query === undefined) return false;
    const { url, methods } = endpoint;
    const definition = { query: { collection_name: query.collection, query_name: query.name } };
    const change = await makeChange({
      title: `Create REST endpoint ${url}`,
      steps: () => [{ type: 'create_rest_endpoint', args: { name: name.trim(), url, methods: [...methods], definition, comment: null } }],
      inverse: [{ type: 'drop_rest_endpoint', args: { name: name.trim() } }],
    });
    return change !== null;
  };
  return (
    <FormDialog
      title="Create REST endpoint"
      action="Create"
      operation="create_rest_endpoint"
      refusal={query === undefined ? 'Select a saved query' : name.trim() === '' ? 'Enter a name' : endpointRefusal(endpoint)}
      onClose={onClose}
      onSave={save}
    >
      <ComboboxField
        label="Saved query"
        hint="A query of a collection. Save a new one in the Explorer."
        isLive
        value={chosen}
        options={queries.map((each) => ({ value: labelOf(each) }))}
        onChange={(next) => {
          setChosen(next);
          const found = queries.find((each) => labelOf(each) === next);
          if (found === undefined) return;
          if (name === '') setName(found.name);
          if (endpoint.url === '') setEndpoint({ ...endpoint, url: found.name.toLowerCase() });
        }}
      />
      <TextField label="Name" value={name} onInput={setName} />
      <EndpointFields endpoint={endpoint} onChange={setEndpoint} />
    </FormDialog>
  );
}

function labelOf({ collection, name }: SavedQuery): string {
  return `${collection}: ${name}`;
}

async function readQueries(signal: AbortSignal): Promise<readonly SavedQuery[]> {
  const sections = await readSections(['query_collections'], signal);
  return objectsIn(sections['query_collections']).flatMap(({ name, definition }) =>
    objectsIn(objectOf(definition)['queries']).map((query) => ({ collection: String(name), name: String(query['name']) })),
  );
}

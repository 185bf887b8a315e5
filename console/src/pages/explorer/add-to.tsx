import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { readMetadata } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { useResource } from '../../api/use-resource.ts';
import { type Endpoint, EndpointFields, endpointRefusal } from '../../features/endpoint-fields.tsx';
import { type KnownCollections, saveQuerySteps } from '../../model/collection-steps.ts';
import { objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { ComboboxField } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Saves the query in a collection, optionally on the allow-list, or creates a REST endpoint for it. */
export function AddToCollection({
  form,
  text,
  name: operationName,
  onClose,
}: {
  readonly form: 'collection' | 'rest';
  readonly text: string;
  readonly name: string | undefined;
  onClose(): void;
}) {
  const [name, setName] = useState(operationName ?? '');
  const [collection, setCollection] = useState('console');
  const [allow, setAllow] = useState(false);
  const [endpoint, setEndpoint] = useState<Endpoint>({ url: (operationName ?? '').toLowerCase(), methods: ['GET'] });
  const [failure, setFailure] = useState<Failure>();
  const { value: known = NO_COLLECTIONS } = useResource(readCollections, 'collections');
  const isRest = form === 'rest';
  const apply = async (): Promise<void> => {
    setFailure(undefined);
    const { steps, inverse } = saveQuerySteps({ name, text, collection, allow, ...(isRest ? { endpoint } : {}) }, known);
    const title = isRest ? `Create REST endpoint ${endpoint.url}` : `Add ${name} to collection ${collection}`;
    try {
      await makeChange({ title, steps: () => steps, inverse });
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal =
    name.trim() === '' || collection.trim() === '' ? 'Enter a name and a collection' : isRest ? endpointRefusal(endpoint) : undefined;
  return (
    <Dialog
      title={isRest ? 'Create REST endpoint' : 'Add to collection'}
      onClose={onClose}
      onSubmit={() => void (refusal === undefined && apply())}
      footer={
        <Button kind="primary" refusal={refusal} onClick={() => void apply()}>
          {isRest ? 'Create' : 'Add'}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Field label="Name">
        {(id) => <input id={id} class="input" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <ComboboxField
        label="Collection"
        hint="A new name creates a collection."
        isLive
        value={collection}
        options={known.collections.map((each) => ({ value: String(each['name']) }))}
        onChange={setCollection}
      />
      {isRest ? (
        <EndpointFields endpoint={endpoint} onChange={setEndpoint} />
      ) : (
        <Check label="Add the collection to the allow-list" checked={allow || known.allowed.includes(collection)} onChange={setAllow} />
      )}
    </Dialog>
  );
}

const NO_COLLECTIONS: KnownCollections = { collections: [], allowed: [] };

async function readCollections(signal: AbortSignal): Promise<KnownCollections> {
  const { metadata } = await readMetadata(signal);
  return {
    collections: objectsIn(metadata['query_collections']),
    allowed: objectsIn(metadata['allowlist']).map((each) => String(each['collection'])),
  };
}

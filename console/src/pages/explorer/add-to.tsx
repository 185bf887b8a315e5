import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { readMetadata } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { useResource } from '../../api/use-resource.ts';
import { isList, isObject, type JsonObject } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

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
  const [url, setUrl] = useState((operationName ?? '').toLowerCase());
  const [methods, setMethods] = useState<readonly string[]>(['GET']);
  const [failure, setFailure] = useState<Failure>();
  const { value } = useResource(async (signal) => {
    const { metadata } = await readMetadata(signal);
    const list = (key: string): readonly JsonObject[] => (isList(metadata[key]) ? metadata[key].filter(isObject) : []);
    return { collections: list('query_collections'), allowed: list('allowlist').map((each) => String(each['collection'])) };
  }, 'collections');
  const apply = async (): Promise<void> => {
    setFailure(undefined);
    const known = value?.collections.find((each) => each['name'] === collection);
    const queries =
      isObject(known?.['definition']) && isList(known['definition']['queries']) ? known['definition']['queries'].filter(isObject) : [];
    const has = queries.some((each) => each['name'] === name && each['query'] === text);
    const steps: Step[] = [];
    const inverse: Step[] = [];
    if (known === undefined) {
      steps.push({ type: 'create_query_collection', args: { name: collection, definition: { queries: [{ name, query: text }] } } });
      inverse.unshift({ type: 'drop_query_collection', args: { collection, cascade: true } });
    } else if (!has) {
      steps.push({ type: 'add_query_to_collection', args: { collection_name: collection, query_name: name, query: text } });
      inverse.unshift({ type: 'drop_query_from_collection', args: { collection_name: collection, query_name: name } });
    }
    if (allow && value?.allowed.includes(collection) !== true) {
      steps.push({ type: 'add_collection_to_allowlist', args: { collection } });
      inverse.unshift({ type: 'drop_collection_from_allowlist', args: { collection } });
    }
    if (form === 'rest') {
      steps.push({
        type: 'create_rest_endpoint',
        args: { name, url, methods: [...methods], definition: { query: { collection_name: collection, query_name: name } }, comment: null },
      });
      inverse.unshift({ type: 'drop_rest_endpoint', args: { name } });
    }
    try {
      await makeChange({
        title: form === 'rest' ? `Create REST endpoint ${url}` : `Add ${name} to collection ${collection}`,
        steps: () => steps,
        inverse,
      });
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const refusal =
    name.trim() === '' || collection.trim() === ''
      ? 'Enter a name and a collection'
      : form === 'rest' && (url === '' || methods.length === 0)
        ? 'Enter a URL and select a method'
        : undefined;
  return (
    <Dialog
      title={form === 'rest' ? 'Create REST endpoint' : 'Add to collection'}
      onClose={onClose}
      onSubmit={() => void (refusal === undefined && apply())}
      footer={
        <Button kind="primary" refusal={refusal} onClick={() => void apply()}>
          {form === 'rest' ? 'Create' : 'Add'}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <Field label="Name">
        {(id) => <input id={id} class="input" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <Field label="Collection" hint="A new name creates a collection.">
        {(id) => (
          <Combobox
            id={id}
            isLive
            name="Collection"
            value={collection}
            options={(value?.collections ?? []).map((each) => ({ value: String(each['name']) }))}
            onChange={setCollection}
          />
        )}
      </Field>
      {form === 'rest' ? (
        <>
          <Field label="URL" hint="Path after /api/rest/. A segment such as :id sets the variable $id.">
            {(id) => (
              <input
                id={id}
                class="input mono"
                placeholder="orders/:id"
                value={url}
                spellcheck={false}
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            )}
          </Field>
          <fieldset class="plain-fieldset">
            <legend class="label">Methods</legend>
            <div class="row">
              {METHODS.map((method) => (
                <Check
                  key={method}
                  label={method}
                  checked={methods.includes(method)}
                  onChange={(on) => setMethods(on ? [...methods, method] : methods.filter((each) => each !== method))}
                />
              ))}
            </div>
          </fieldset>
        </>
      ) : (
        <Check
          label="Add the collection to the allow-list"
          checked={allow || value?.allowed.includes(collection) === true}
          onChange={setAllow}
        />
      )}
    </Dialog>
  );
}

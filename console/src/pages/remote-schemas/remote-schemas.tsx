import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn, readSections } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isObject, type JsonObject, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { headOf, RemoteSchema } from './remote-schema.tsx';

const TEMPLATE: JsonObject = {
  name: 'countries',
  definition: { url_from_env: 'COUNTRIES_URL', headers: [], forward_client_headers: false, timeout_seconds: 30 },
};

/** Other GraphQL servers that are part of the schema. */
export function RemoteSchemas() {
  const [edited, setEdited] = useState<JsonObject | null>(null);
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => objectsIn((await readSections(['remote_schemas'], signal))['remote_schemas']),
    `${overview.value?.version}`,
    { keeps: true },
  );
  const add = (
    <Button kind="primary" icon="plus" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => setEdited(TEMPLATE)}>
      New remote schema
    </Button>
  );
  const isNew = edited === TEMPLATE;
  return (
    <div class="page">
      <header>
        <h1>Remote schemas</h1>
        <span class="end" />
        {value !== undefined && value.length > 0 && add}
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the remote schemas" />}
      {value?.length === 0 && (
        <EmptyState icon="remote" title="No remote schema" actions={add}>
          The fields of another GraphQL server become fields of this one.
        </EmptyState>
      )}
      {value?.map((remote) => (
        <RemoteSchema key={String(remote['name'])} remote={remote} onEdit={() => setEdited(remote)} />
      ))}
      {edited !== null && (
        <JsonDialog
          title={isNew ? 'New remote schema' : `Remote schema ${String(edited['name'])}`}
          text={printJson(isNew ? edited : headOf(edited), 2)}
          action={isNew ? 'Add' : 'Save'}
          onClose={() => setEdited(null)}
          onSubmit={async (args) => {
            if (!isObject(args)) throw new SyntaxError('a remote schema is an object');
            const name = String(args['name']);
            await makeChange({
              title: `Remote schema ${name}`,
              steps: () => [{ type: isNew ? 'add_remote_schema' : 'update_remote_schema', args }],
              inverse: [isNew ? { type: 'remove_remote_schema', args: { name } } : { type: 'update_remote_schema', args: headOf(edited) }],
            });
            setEdited(null);
          }}
        >
          <p class="muted">
            The server is asked for its schema when it is saved. <code>url</code> may stand in place of <code>url_from_env</code>.
          </p>
        </JsonDialog>
      )}
    </div>
  );
}

import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { InconsistencyNote } from '../../features/inconsistency-note.tsx';
import { type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { RemoteSchema } from './remote-schema.tsx';
import { RemoteSchemaForm } from './remote-schema-form.tsx';

/** Other GraphQL servers whose fields are part of the schema. */
export function RemoteSchemas() {
  const [edited, setEdited] = useState<JsonObject | 'new' | null>(null);
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => objectsIn((await readSections(['remote_schemas'], signal))['remote_schemas']),
    `${overview.value?.version}`,
    { keeps: true },
  );
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setEdited('new')}>
      New remote schema
    </Button>
  );
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
        <EmptyState icon="remote" title="No remote schemas" actions={add}>
          A remote schema adds the fields of another GraphQL server to this API.
        </EmptyState>
      )}
      <InconsistencyNote isShown={([page]) => page === 'remote-schemas'} />
      {value?.map((remote) => (
        <RemoteSchema key={String(remote['name'])} remote={remote} onEdit={() => setEdited(remote)} />
      ))}
      {edited !== null && <RemoteSchemaForm before={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </div>
  );
}

import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { hrefOf } from '../../browser/place.ts';
import { type InconsistentObject, readInconsistency } from '../../model/inconsistent.ts';
import { isObject, objectsIn, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Inconsistent objects of the metadata, with their reasons. */
export function Inconsistent() {
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await readOperation('get_inconsistent_metadata', {}, { signal });
    return isObject(json) ? objectsIn(json['inconsistent_objects']) : [];
  }, `${overview.value?.version} ${overview.value?.inconsistent}`);
  const dropAll = (): void =>
    void attempt({ title: 'Delete inconsistent objects', review: true, steps: () => [{ type: 'drop_inconsistent_metadata', args: {} }] });
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="inconsistent objects" />}
      {value?.length === 0 && (
        <EmptyState icon="check" title="No inconsistent objects">
          All objects match their databases and servers.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <>
          <div class="row">
            <p class="grow muted">These objects are not part of the API.</p>
            <Button icon="reload" onClick={reload}>
              Refresh
            </Button>
            <Button icon="trash" title="drop_inconsistent_metadata" refusal={readOnlyRefusal} onClick={dropAll}>
              Delete all {value.length} …
            </Button>
          </div>
          {value
            .map((record) => readInconsistency(record, overview.value?.sources ?? []))
            .map(({ reason, objects }, index) => (
              <section key={index} class="card stack">
                {objects.map((object) => (
                  <Heading key={object.name} object={object} />
                ))}
                <p class="break">{reason}</p>
                {objects.map(({ name, definition }) => (
                  <details key={name}>
                    <summary>{objects.length === 1 ? 'Definition' : `Definition of ${name}`}</summary>
                    <pre class="code-block mono" tabIndex={0}>
                      {printJson(definition, 2)}
                    </pre>
                  </details>
                ))}
              </section>
            ))}
        </>
      )}
    </>
  );
}

function Heading({ object: { name, place } }: { readonly object: InconsistentObject }) {
  return (
    <div class="row">
      <h2 class="grow break">{name}</h2>
      {place !== undefined && (
        <a class="button button-small" aria-label={`Open ${name}`} href={hrefOf(place.path, place.query)}>
          Open
        </a>
      )}
    </div>
  );
}

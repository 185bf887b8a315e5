import { ask } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { hrefOf } from '../../browser/place.ts';
import { type InconsistentObject, readInconsistency } from '../../model/inconsistent.ts';
import { isObject, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Objects that do not fit their databases, with the reasons. */
export function Inconsistent() {
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await ask('get_inconsistent_metadata', {}, { signal });
    return isObject(json) ? objectsIn(json['inconsistent_objects']) : [];
  }, `${overview.value?.version} ${overview.value?.inconsistent}`);
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const dropAll = (): void =>
    void attempt({ title: 'Drop what is inconsistent', review: true, steps: () => [{ type: 'drop_inconsistent_metadata', args: {} }] });
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="what is inconsistent" />}
      {value?.length === 0 && (
        <EmptyState icon="check" title="Everything fits">
          All objects of the metadata fit their databases and servers.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <>
          <div class="row">
            <p class="grow muted">These are not part of the API until they fit again.</p>
            <Button icon="reload" onClick={reload}>
              Look again
            </Button>
            <Button kind="danger" title="drop_inconsistent_metadata" refusal={refusal} onClick={dropAll}>
              Drop all {value.length} …
            </Button>
          </div>
          {value
            .map((record) => readInconsistency(record, overview.value?.sources ?? []))
            .map(({ reason, objects }, index) => (
              <section key={index} class="card stack">
                {objects.map((object) => (
                  <Inconsistency key={object.name} object={object} />
                ))}
                <p>{reason}</p>
              </section>
            ))}
        </>
      )}
    </>
  );
}

function Inconsistency({ object: { name, type, definition, place } }: { readonly object: InconsistentObject }) {
  return (
    <div class="stack-tight">
      <div class="row">
        <h2 class="grow break">{name}</h2>
        <span class="badge">{type}</span>
        {place !== undefined && (
          <a class="button button-small" aria-label={`Open ${name}`} href={hrefOf(place.path, place.query)}>
            Open
          </a>
        )}
      </div>
      <details>
        <summary>Definition</summary>
        <pre class="code-block mono" tabIndex={0}>
          {printJson(definition, 2)}
        </pre>
      </details>
    </div>
  );
}

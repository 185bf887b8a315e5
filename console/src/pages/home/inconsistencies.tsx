import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { readOperation } from '../../api/metadata.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { readInconsistency } from '../../model/inconsistent.ts';
import { isList, isObject } from '../../model/json.ts';
import type { Overview } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Card } from './card.tsx';

export function Inconsistencies({ data }: { readonly data: Overview }) {
  const { value } = useResource(async (signal) => {
    const json = await readOperation('get_inconsistent_metadata', {}, { signal });
    return isObject(json) && isList(json['inconsistent_objects']) ? json['inconsistent_objects'].filter(isObject) : [];
  }, `${data.version}`);
  const drop = (): void =>
    void makeChange({
      title: 'Delete inconsistent objects',
      review: true,
      steps: () => [{ type: 'drop_inconsistent_metadata', args: {} }],
    }).catch((error) => showToast(failureOf(error).message, { isError: true }));
  return (
    <Card
      icon="warn"
      title="Inconsistent metadata"
      aside={
        <Button small refusal={readOnlyRefusal} onClick={drop}>
          Delete all …
        </Button>
      }
    >
      <p class="muted small">These objects do not match their databases and are not part of the API.</p>
      <ul class="stack">
        {value
          ?.map((record) => readInconsistency(record, data.sources))
          .map(({ reason, objects }, index) => (
            <li key={index}>
              {objects.map(({ name, place }) => (
                <p key={name}>
                  <strong>{place === undefined ? name : <a href={hrefOf(place.path, place.query)}>{name}</a>}</strong>
                </p>
              ))}
              <p class="small muted break">{reason}</p>
            </li>
          ))}
      </ul>
    </Card>
  );
}

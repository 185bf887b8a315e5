import { readOperation } from '../api/metadata.ts';
import { overview } from '../api/overview.ts';
import { useResource } from '../api/use-resource.ts';
import { readInconsistency } from '../model/inconsistent.ts';
import { isObject, objectsIn } from '../model/json.ts';
import { Icon } from '../parts/icon.tsx';

/** Inconsistent objects that a page shows, with their reasons. Nothing is read while the metadata is consistent. */
export function InconsistencyNote({
  isShown,
}: {
  /** Returns whether the page is that of an object. @param path path of the object's page */
  isShown(path: readonly string[]): boolean;
}) {
  const { inconsistent = 0, version, sources = [] } = overview.value ?? {};
  const { value } = useResource(
    async (signal) => {
      const json = inconsistent === 0 ? null : await readOperation('get_inconsistent_metadata', {}, { signal });
      return isObject(json) ? objectsIn(json['inconsistent_objects']) : [];
    },
    `${version} ${inconsistent}`,
    { keeps: true },
  );
  const records = (value ?? [])
    .map((record) => readInconsistency(record, sources))
    .filter(({ objects }) => objects.some(({ place }) => isShown(place?.path ?? [])));
  if (records.length === 0) return null;
  return (
    <div class="banner banner-warn" role="note">
      <Icon name="warn" />
      <ul class="stack-tight">
        {records.map(({ reason, objects }) => (
          <li key={reason} class="break">
            <strong>{objects.map(({ name }) => name).join(', ')}</strong> {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}

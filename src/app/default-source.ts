import type { Backend } from '../backend/backend.ts';
import { withSource } from '../metadata/edit.ts';
import { NO_CUSTOMIZATION } from '../metadata/source.ts';
import type { State } from '../state/state.ts';
import { ROOT } from '../util/path.ts';

/** Version of metadata that has never been changed. */
const FIRST_VERSION = 1;

/**
 * Adds the database of `--database-url` as source `default` to metadata that has never been changed. Metadata that an administrator has
 * edited stays as it is, even without that source.
 */
export async function trackDefaultSource(state: State, backend: Backend): Promise<void> {
  const { metadata, resourceVersion } = state.current();
  if (resourceVersion > FIRST_VERSION || metadata.sources.size > 0) return;
  const configuration = backend.configuration.decode({ connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } }, ROOT);
  await state.change({
    edit: (current) =>
      withSource(current, {
        name: 'default',
        kind: backend.kind,
        configuration,
        customization: NO_CUSTOMIZATION,
        tables: new Map(),
        functions: new Map(),
      }),
    // The service must start even if the database cannot be reached yet.
    inconsistencies: 'allow',
  });
}

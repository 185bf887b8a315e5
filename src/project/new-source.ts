/** Entry of a new source in the metadata files, for `svc init` and for messages that say what to add. */
import { VARIABLE_PREFIX } from '../config/option.ts';
import type { KindCodecs, Kinds } from '../metadata/kinds.ts';
import { DEFAULT_SOURCE, DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import type { JsonObject } from '../util/json.ts';

/** Returns a source of the default kind without tables, whose URL is in an environment variable of the service. */
export function newSource(name: string, kinds: Kinds<KindCodecs>): JsonObject {
  const prefix = name === DEFAULT_SOURCE ? VARIABLE_PREFIX : `${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_`;
  return {
    name,
    kind: kinds.get(DEFAULT_SOURCE_KIND)?.aliases[0] ?? DEFAULT_SOURCE_KIND,
    configuration: { connection_info: { database_url: { from_env: `${prefix}DATABASE_URL` } } },
    tables: [],
  };
}

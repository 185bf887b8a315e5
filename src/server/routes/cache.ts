import { SvcError } from '../../errors/svc-error.ts';
import { adminRoute } from '../admin-route.ts';
import type { Route } from '../context.ts';
import { readsOfTables } from '../../pipeline/response-cache.ts';
import { jsonReply } from '../reply.ts';

/** Maximum length of a key; those of responses have 40 characters. */
const MAX_KEY_LENGTH = 200;
/** Maximum number of tables of a request. */
const MAX_TABLES = 20;
const PARAMETERS: ReadonlySet<string> = new Set(['key', 'family', 'table']);

/**
 * Clears cached responses: all, or those of `?key=` or `?family=`, which the headers of a response contain, or those that were read from
 * one of the tables `?table=<source>.<schema>.<name>`.
 */
function clearRoute(path: string): Route {
  return adminRoute({
    method: 'POST',
    path,
    api: 'metadata',
    async handle(exchange, { clearCache, purgeKeys, state }) {
      const query = exchange.query();
      // A misspelt parameter would clear everything.
      for (const name of query.keys())
        if (!PARAMETERS.has(name)) throw new SvcError('bad-request', `unknown parameter "${name}": expected key, family or table`);
      const [key, family, tables] = [query.get('key'), query.get('family'), query.getAll('table')];
      // The notification of the other instances has a limited length.
      if (tables.length > MAX_TABLES) throw new SvcError('bad-request', `at most ${MAX_TABLES} tables can be cleared at once`);
      for (const value of [key, family, ...tables])
        if (value !== null && value.length > MAX_KEY_LENGTH)
          throw new SvcError('bad-request', `a key has at most ${MAX_KEY_LENGTH} characters`);
      const { sources } = state.current().metadata;
      for (const table of tables) requireTable(table, sources.keys());
      const reads = readsOfTables(tables);
      const which = {
        ...(key === null ? {} : { key }),
        ...(family === null ? {} : { family }),
        ...(reads.length === 0 ? {} : { reads }),
      };
      const clearedItemCount = await clearCache(which);
      const answer = { message: 'success', clearedItemCount };
      return jsonReply(200, reads.length === 0 ? answer : { ...answer, purge: { keys: reads.map((read) => purgeKeys.ofRead(read)) } });
    },
  });
}

/** @throws SvcError bad-request: a misspelt name would clear nothing */
function requireTable(table: string, sources: Iterable<string>): void {
  for (const source of sources) if (table.startsWith(`${source}.`) && /^[^.]+\..+$/s.test(table.slice(source.length + 1))) return;
  throw new SvcError('bad-request', `"${table}" is no table: expected <source>.<schema>.<table> with a source of the metadata`);
}

export const cacheRoutes: readonly Route[] = [clearRoute('/v1/cache/clear'), clearRoute('/pro/cache/clear')];

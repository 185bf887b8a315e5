import { SvcError } from '../../errors/svc-error.ts';
import { adminRoute } from '../admin-route.ts';
import type { Route } from '../context.ts';
import { jsonReply } from '../reply.ts';

/** Maximum length of a key; those of responses have 40 characters. */
const MAX_KEY_LENGTH = 200;

/** Clears cached responses: all, or those of `?key=` or `?family=`, which the headers of a response contain. */
function clearRoute(path: string): Route {
  return adminRoute({
    method: 'POST',
    path,
    api: 'metadata',
    async handle(exchange, { clearCache }) {
      const query = exchange.query();
      // A misspelt parameter would clear everything.
      for (const name of query.keys())
        if (name !== 'key' && name !== 'family') throw new SvcError('bad-request', `unknown parameter "${name}": expected key or family`);
      const [key, family] = [query.get('key'), query.get('family')];
      // The notification of the other instances has a limited length.
      for (const value of [key, family])
        if (value !== null && value.length > MAX_KEY_LENGTH)
          throw new SvcError('bad-request', `a key has at most ${MAX_KEY_LENGTH} characters`);
      const which = { ...(key === null ? {} : { key }), ...(family === null ? {} : { family }) };
      return jsonReply(200, { message: 'success', clearedItemCount: await clearCache(which) });
    },
  });
}

export const cacheRoutes: readonly Route[] = [clearRoute('/v1/cache/clear'), clearRoute('/pro/cache/clear')];

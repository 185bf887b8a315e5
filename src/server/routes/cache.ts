import { SvcError } from '../../errors/svc-error.ts';
import { adminRoute } from '../admin-route.ts';
import type { Route } from '../context.ts';
import { jsonReply } from '../reply.ts';

/** Those of answers have 40. */
const LONGEST_KEY = 200;

/** Forgets answers that are kept: all, or those of `?key=` or `?family=` as the headers of an answer tell them. */
function clearRoute(path: string): Route {
  return adminRoute({
    method: 'POST',
    path,
    api: 'metadata',
    async handle(exchange, { clearAnswers }) {
      const query = exchange.query();
      // A misspelt one would clear everything.
      for (const name of query.keys())
        if (name !== 'key' && name !== 'family')
          throw new SvcError('bad-request', `there is no parameter "${name}": key and family are known`);
      const [key, family] = [query.get('key'), query.get('family')];
      // The other instances are told of it in a message of bounded length.
      for (const value of [key, family])
        if (value !== null && value.length > LONGEST_KEY) throw new SvcError('bad-request', `a key has at most ${LONGEST_KEY} characters`);
      const which = { ...(key === null ? {} : { key }), ...(family === null ? {} : { family }) };
      return jsonReply(200, { message: 'success', clearedItemCount: await clearAnswers(which) });
    },
  });
}

export const cacheRoutes: readonly Route[] = [clearRoute('/v1/cache/clear'), clearRoute('/pro/cache/clear')];

/** What the entry of a request in the log has as its query. */
import { maskUrl, maskVariables } from '../observability/masked-variables.ts';
import { withoutSecrets } from '../observability/without-secrets.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { Exchange } from './context.ts';
import type { LoggedQuery, QueryLogging } from './query-logging.ts';

/** What the log may tell of a request. */
export function loggedRequest(request: JsonObject, { maskedVariables }: QueryLogging): LoggedQuery {
  const { variables, operationName } = request;
  return {
    whole: isJsonObject(variables) ? { ...request, variables: maskVariables(variables, maskedVariables) } : request,
    name: operationName === undefined ? null : { operationName },
  };
}

/** Null for what is no operation at all. */
export function loggedOperation(body: Json, { administration }: QueryLogging): LoggedQuery | null {
  if (!isJsonObject(body)) return null;
  const name = { type: typeof body['type'] === 'string' ? body['type'] : null };
  return { whole: administration ? (withoutSecrets(body) as JsonObject) : name, name };
}

/** The query for the entry, null where there is none to be told. */
export function queryForLog(
  { mode, loggedQueries, failed }: Exchange,
  requestFailed: boolean,
  { enabled, onlyOnError }: QueryLogging,
): Json {
  if (!enabled) return null;
  const told = loggedQueries.map(({ whole, name }) => (onlyOnError && !requestFailed && !failed ? name : whole));
  return mode === 'batched' ? told : (told[0] ?? null);
}

/** The URL for the entry: the variables of a request may be in it. */
export function urlForLog(url: string, { loggedPath }: Exchange, { maskedVariables }: QueryLogging): string {
  if (maskedVariables.size === 0) return url;
  const mark = url.indexOf('?');
  return maskUrl(loggedPath === null ? url : loggedPath + (mark < 0 ? '' : url.slice(mark)), maskedVariables);
}

/** The query and URL of a request in the HTTP log. */
import { maskUrl, maskVariables } from '../observability/masked-variables.ts';
import { withoutSecrets } from '../observability/without-secrets.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { Exchange } from './context.ts';
import type { LoggedQuery, QueryLogging } from './query-logging.ts';

/** Describes a GraphQL request for the log. */
export function loggedRequest(request: JsonObject, { maskedVariables }: QueryLogging): LoggedQuery {
  const { variables, operationName } = request;
  return {
    whole: isJsonObject(variables) ? { ...request, variables: maskVariables(variables, maskedVariables) } : request,
    name: operationName === undefined ? null : { operationName },
  };
}

/** Describes an administration operation for the log; `null` if the body is not an operation. */
export function loggedOperation(body: Json, { administration }: QueryLogging): LoggedQuery | null {
  if (!isJsonObject(body)) return null;
  const name = { type: typeof body['type'] === 'string' ? body['type'] : null };
  return { whole: administration ? (withoutSecrets(body) as JsonObject) : name, name };
}

/** Returns the query for the log record, `null` if it is not logged. */
export function queryForLog(
  { mode, loggedQueries, failed }: Exchange,
  requestFailed: boolean,
  { enabled, onlyOnError }: QueryLogging,
): Json {
  if (!enabled) return null;
  const logged = loggedQueries.map(({ whole, name }) => (onlyOnError && !requestFailed && !failed ? name : whole));
  return mode === 'batched' ? logged : (logged[0] ?? null);
}

/** Returns the URL for the log record, with hidden variables masked. */
export function urlForLog(url: string, { loggedPath }: Exchange, { maskedVariables }: QueryLogging): string {
  if (maskedVariables.size === 0) return url;
  const mark = url.indexOf('?');
  return maskUrl(loggedPath === null ? url : loggedPath + (mark < 0 ? '' : url.slice(mark)), maskedVariables);
}

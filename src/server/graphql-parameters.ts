import type { Json, JsonObject } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { decodeJsonParameter } from './body.ts';

/**
 * Builds the GraphQL request from URL parameters, in the form of a request body.
 * @param jsonSizeLimit like that of a body
 * @throws SvcError invalid-json
 */
export function requestOfParameters(parameters: URLSearchParams, jsonSizeLimit: number): JsonObject {
  const request: Record<string, Json> = {};
  const query = parameters.get('query');
  if (query !== null) request['query'] = query;
  const operationName = parameters.get('operationName');
  if (operationName !== null && operationName !== '') request['operationName'] = operationName;
  for (const name of ['variables', 'extensions']) {
    const text = parameters.get(name);
    if (text !== null && text !== '') request[name] = decodeJsonParameter(text, name, jsonSizeLimit, at(ROOT, name));
  }
  return request;
}

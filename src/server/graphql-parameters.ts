import { SvcError } from '../errors/svc-error.ts';
import { type Json, type JsonObject, parseJson } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { MAX_NESTING, nesting } from './body.ts';

/** The GraphQL request in the parameters of a URL, in the form of a request body. @throws SvcError invalid-json */
export function requestOfParameters(parameters: URLSearchParams): JsonObject {
  const request: Record<string, Json> = {};
  const query = parameters.get('query');
  if (query !== null) request['query'] = query;
  const operationName = parameters.get('operationName');
  if (operationName !== null && operationName !== '') request['operationName'] = operationName;
  for (const name of ['variables', 'extensions']) {
    const text = parameters.get(name);
    if (text !== null && text !== '') request[name] = jsonOf(name, text);
  }
  return request;
}

function jsonOf(name: string, text: string): Json {
  const path = at(ROOT, name);
  if (nesting(text, MAX_NESTING) > MAX_NESTING) {
    throw new SvcError('invalid-json', `JSON is nested deeper than ${MAX_NESTING} levels`, { path, keepsStatus: true });
  }
  try {
    return parseJson(text);
  } catch (error) {
    throw new SvcError('invalid-json', `the parameter "${name}" is not valid JSON`, { path, keepsStatus: true, cause: error });
  }
}

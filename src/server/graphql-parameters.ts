import type { Json, JsonObject } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { decodeJsonParameter } from './body.ts';

/** Parameters that name the document. */
const DOCUMENT_PARAMETERS = ['query', 'documentId', 'doc_id'] as const;

/** Returns true if the URL has a request, rather than a person who opens the address. */
export function hasRequest(parameters: URLSearchParams): boolean {
  return parameters.has('extensions') || DOCUMENT_PARAMETERS.some((name) => parameters.has(name));
}

/**
 * Builds the GraphQL request from URL parameters, in the form of a request body.
 * @param jsonSizeLimit like that of a body
 * @throws SvcError invalid-json
 */
export function requestOfParameters(parameters: URLSearchParams, jsonSizeLimit: number): JsonObject {
  const request: Record<string, Json> = {};
  for (const name of DOCUMENT_PARAMETERS) {
    const text = parameters.get(name);
    if (text !== null) request[name] = text;
  }
  const operationName = parameters.get('operationName');
  if (operationName !== null && operationName !== '') request['operationName'] = operationName;
  for (const name of ['variables', 'extensions']) {
    const text = parameters.get(name);
    if (text !== null && text !== '') request[name] = decodeJsonParameter(text, name, jsonSizeLimit, at(ROOT, name));
  }
  return request;
}

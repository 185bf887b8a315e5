import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';

/** One GraphQL request as it came: `{query, variables?, operationName?}`. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: JsonObject;
  readonly operationName: string | null;
}

const NO_VARIABLES: JsonObject = Object.freeze({});

/** @throws SvcError parse-failed for anything that is no request */
export function decodeRequest(json: Json): GraphqlRequest {
  if (!isJsonObject(json)) throw new SvcError('parse-failed', 'parsing GraphQLRequest failed, expected Object, but encountered a different JSON value');
  const { query, variables, operationName } = json;
  if (isJsonObject(json['extensions']) && json['extensions']['persistedQuery'] !== undefined) {
    throw new SvcError('not-supported', 'Automatic Persisted Queries is not enabled');
  }
  if (query === undefined || query === null) throw new SvcError('parse-failed', "the key 'query' was not present");
  if (typeof query !== 'string') throw new SvcError('parse-failed', 'parsing Text failed, expected String', { path: at(ROOT, 'query') });
  if (variables !== undefined && variables !== null && !isJsonObject(variables)) {
    throw new SvcError('parse-failed', 'parsing HashMap failed, expected Object', { path: at(ROOT, 'variables') });
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw new SvcError('parse-failed', 'parsing Text failed, expected String', { path: at(ROOT, 'operationName') });
  }
  return { query, variables: variables ?? NO_VARIABLES, operationName: operationName ?? null };
}

import { SvcError } from '../errors/svc-error.ts';
import { describeUnknownKey } from '../metadata/unknown-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { along, ROOT } from '../util/path.ts';

/** One GraphQL request as it came: `{query, variables?, operationName?, extensions?}`. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: JsonObject;
  readonly operationName: string | null;
  /** Levels of lists and objects that the value of a variable has at most; absent: nobody has counted. */
  readonly variableDepth?: number;
}

/** The request and its `variables`. */
const LEVELS_ABOVE_VALUES = 2;
/** The name is part of errors and logs. */
const MAX_NAME = 1000;
const NO_VARIABLES: JsonObject = Object.freeze({});

function malformed(message: string, ...keys: readonly string[]): SvcError {
  return new SvcError('parse-failed', message, { path: along(ROOT, ...keys), keepsStatus: true });
}

/** The keys of a request that mean something. */
export const REQUEST_KEYS: readonly string[] = ['query', 'variables', 'operationName', 'extensions'];

/** Other keys are ignored, as GraphQL over HTTP asks for; where there is no query, one of them is likely to be at fault. */
function misspelt(json: JsonObject): string {
  const unknown = Object.keys(json).find((key) => !REQUEST_KEYS.includes(key));
  return unknown === undefined ? '' : `; ${describeUnknownKey(unknown, { keys: REQUEST_KEYS })}`;
}

/**
 * @param depth levels of lists and objects in `json` at most; absent: nobody has counted
 * @throws SvcError parse-failed for anything that is no request
 */
export function decodeRequest(json: Json, depth: number = Number.POSITIVE_INFINITY): GraphqlRequest {
  if (!isJsonObject(json)) throw malformed('parsing GraphQLRequest failed, expected Object, but encountered a different JSON value');
  const { query, variables, operationName, extensions } = json;
  if (isJsonObject(extensions) && extensions['persistedQuery'] !== undefined) {
    throw new SvcError('not-supported', 'Automatic Persisted Queries is not enabled');
  }
  if (query === undefined || query === null) throw malformed(`the key 'query' was not present${misspelt(json)}`);
  if (typeof query !== 'string') throw malformed('parsing Text failed, expected String', 'query');
  if (variables !== undefined && variables !== null && !isJsonObject(variables)) {
    throw malformed('parsing HashMap failed, expected Object', 'variables');
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw malformed('parsing Text failed, expected String', 'operationName');
  }
  if (typeof operationName === 'string' && operationName.length > MAX_NAME) {
    throw malformed(`the name of an operation may have at most ${MAX_NAME} characters`, 'operationName');
  }
  if (extensions !== undefined && extensions !== null && !isJsonObject(extensions)) {
    throw malformed('parsing HashMap failed, expected Object', 'extensions');
  }
  return { query, variables: variables ?? NO_VARIABLES, operationName: operationName ?? null, variableDepth: depth - LEVELS_ABOVE_VALUES };
}

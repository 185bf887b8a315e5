import { SvcError } from '../errors/svc-error.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { StoredDocument } from '../schema/stored/document-index.ts';
import { decodeReferences, type DocumentReference } from './document-reference.ts';
import { describeUnknownKey } from '../metadata/unknown-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { along, ROOT } from '../util/path.ts';

/** One GraphQL request with its text. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables: JsonObject;
  readonly operationName: string | null;
  /** Schema of the endpoint. */
  readonly api: SchemaApi;
  /** Maximum nesting of lists and objects in the value of a variable; absent if unknown. */
  readonly variableDepth?: number;
  /** Document that the client named; absent if it sent the text alone. */
  readonly document?: RequestDocument;
  /** Set if an id of the request names no document; then `query` is empty. */
  readonly refusal?: SvcError;
  /** The id that names no document, for logs. */
  readonly unknownId?: string;
}

/** One GraphQL request as sent: `{query?, documentId?, variables?, operationName?, extensions?}`, with a text, ids, or both. */
export interface ReceivedRequest extends Omit<GraphqlRequest, 'query' | 'document' | 'refusal' | 'unknownId'> {
  /** `null` if the request has ids alone. */
  readonly query: string | null;
  readonly references: readonly DocumentReference[];
}

/** The document that the request was sent for, if not by its text alone. */
export interface RequestDocument {
  /** As sent; the name of the endpoint for `rest`. */
  readonly id: string;
  readonly via: DocumentReference['via'] | 'rest';
  /** Entry of a query collection; `null` for a text that clients have registered, and for REST endpoints. */
  readonly stored: StoredDocument | null;
  /** Error if the document is invalid for the role; absent for clients that may see its text: administrators, and those that sent it. */
  readonly refusal?: SvcError;
}

/** Levels of the request around a variable's value: the request and its `variables`. */
const LEVELS_ABOVE_VALUES = 2;
/** Maximum length of an operation name, which is part of errors and logs. */
const MAX_NAME = 1000;
const NO_VARIABLES: JsonObject = Object.freeze({});

function malformed(message: string, ...keys: readonly string[]): SvcError {
  return new SvcError('parse-failed', message, { path: along(ROOT, ...keys), keepsStatus: true });
}

/** Keys of a request. */
export const REQUEST_KEYS: readonly string[] = ['query', 'documentId', 'doc_id', 'variables', 'operationName', 'extensions'];

/** Other keys are ignored, as GraphQL over HTTP requires. If the query is missing, an unknown key is likely a misspelling. */
function misspelt(json: JsonObject): string {
  const unknown = Object.keys(json).find((key) => !REQUEST_KEYS.includes(key));
  return unknown === undefined ? '' : `; ${describeUnknownKey(unknown, { keys: REQUEST_KEYS })}`;
}

/**
 * @param depth maximum nesting of lists and objects in `json`; defaults to unknown
 * @param api default `graphql`
 * @throws SvcError parse-failed if the JSON is not a request
 */
export function decodeRequest(json: Json, depth: number = Number.POSITIVE_INFINITY, api: SchemaApi = 'graphql'): ReceivedRequest {
  if (!isJsonObject(json)) throw malformed('parsing GraphQLRequest failed, expected Object, but encountered a different JSON value');
  const { query = null, variables, operationName, extensions } = json;
  const references = decodeReferences(json);
  if (query === null && references.length === 0) throw malformed(`the key 'query' was not present${misspelt(json)}`);
  if (query !== null && typeof query !== 'string') throw malformed('parsing Text failed, expected String', 'query');
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
  return {
    // Clients of some protocols have to send a text.
    query: query === '' && references.length > 0 ? null : query,
    references,
    variables: variables ?? NO_VARIABLES,
    operationName: operationName ?? null,
    api,
    variableDepth: depth - LEVELS_ABOVE_VALUES,
  };
}

/** Returns a request that has to be sent with its text, because administrators write it. @throws SvcError not-supported */
export function requireText({ query, references, ...rest }: ReceivedRequest): GraphqlRequest {
  if (query === null || references.length > 0) throw new SvcError('not-supported', 'send the text of the document instead of its id');
  return { query, ...rest };
}

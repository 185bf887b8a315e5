/** Finds the document of a request that was sent by id. All transports call it between decoding the request and preparing it. */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { sha256, type StoredDocument } from '../schema/stored/document-index.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import { DOCUMENT_ID_PATH, type DocumentReference, PERSISTED_QUERY_PATH } from './document-reference.ts';
import type { GraphqlRequest, ReceivedRequest, RequestDocument } from './request.ts';
import type { RequestPipeline } from './request-pipeline.ts';

interface Lookup {
  readonly pipeline: Pick<RequestPipeline, 'allowList' | 'registeredTexts' | 'documentCounts'>;
  readonly snapshot: { readonly storedOperations: Pick<StoredOperations, 'document'> };
  readonly session: Session;
}

/** A document with its text. */
interface Found {
  readonly query: string;
  readonly document: RequestDocument | null;
}

/**
 * Returns the request with its text. If an id is unknown, the result has a `refusal`, which `prepare` throws: so unknown ids count
 * against the limits of the role, and in the metrics, like other requests.
 * @throws SvcError bad-request if ids and text contradict each other
 */
export function documentOf(received: ReceivedRequest, lookup: Lookup): GraphqlRequest {
  const { query, references } = received;
  if (references.length === 0) return textOf(received);
  const { variables, operationName, api, variableDepth } = received;
  const rest = { variables, operationName, api, variableDepth };
  const found: Found[] = [];
  for (const reference of references) {
    const result = reference.via === 'persistedQuery' ? persisted(reference, query, lookup) : byId(reference, lookup);
    lookup.pipeline.documentCounts.add(reference.via, result instanceof SvcError ? 'unknown' : 'found');
    if (result instanceof SvcError) return { ...rest, query: '', refusal: result, unknownId: reference.id };
    found.push(result);
  }
  const [first, ...others] = found;
  if (first === undefined) return textOf(received);
  if ((query !== null && query !== first.query) || others.some((other) => other.query !== first.query)) {
    throw new SvcError('bad-request', 'send query or documentId, not both', { path: DOCUMENT_ID_PATH, keepsStatus: true });
  }
  const named = found.find((each) => each.document?.stored != null)?.document ?? first.document;
  const hidesText = query === null && named?.stored != null && !isAdmin(lookup.session);
  const document = hidesText ? { ...named, refusal: named.via === 'persistedQuery' ? unknownHash(lookup) : UNKNOWN_ID } : named;
  return { ...rest, query: first.query, ...(document === null ? {} : { document }) };
}

/** A literal, because most requests are of this kind: copying the rest of the properties takes longer than looking up the operation. */
function textOf({ query, variables, operationName, api, variableDepth }: ReceivedRequest): GraphqlRequest {
  return { query: query ?? '', variables, operationName, api, variableDepth, document: undefined, refusal: undefined };
}

/** Answer for documents that the role cannot run, and for those that do not exist. */
const UNKNOWN_ID = new SvcError('not-found', 'unknown document', { path: DOCUMENT_ID_PATH, status: 404 });

function byId({ via, id }: DocumentReference, lookup: Lookup): Found | SvcError {
  const stored = id.startsWith('sha256:') ? byHash(id.slice('sha256:'.length), lookup) : (byName(id, lookup) ?? byHash(id, lookup));
  if (stored === null) return UNKNOWN_ID;
  return { query: stored.query.query, document: { id, via, stored } };
}

/** The id of a document of a manifest may be anything; only that of a text sent along is a hash. */
function persisted({ via, id }: DocumentReference, query: string | null, lookup: Lookup): Found | SvcError {
  const stored = byHash(id, lookup) ?? byName(id, lookup);
  if (stored !== null && (query === null || query === stored.query.query))
    return { query: stored.query.query, document: { id, via, stored } };
  const { registeredTexts } = lookup.pipeline;
  if (query !== null) {
    const isOfText = sha256(query) === id;
    if (!isOfText && registeredTexts === undefined) return new SvcError('not-supported', 'Automatic Persisted Queries is not enabled');
    if (!isOfText)
      throw new SvcError('bad-request', 'provided sha does not match query', { path: PERSISTED_QUERY_PATH, keepsStatus: true });
    return { query, document: registeredTexts === undefined ? null : { id, via, stored: null } };
  }
  const registered = registeredTexts?.get(id);
  if (registered !== undefined) return { query: registered, document: { id, via, stored: null } };
  return unknownHash(lookup);
}

/** Clients compare message and code, and act on them: send the text too, or stop sending hashes. The status is 200 for old clients. */
function unknownHash({ pipeline, session }: Lookup): SvcError {
  const options = { path: PERSISTED_QUERY_PATH, keepsStatus: true };
  if (pipeline.allowList !== null && !isAdmin(session))
    return new SvcError('PERSISTED_QUERY_NOT_IN_LIST', 'the document is not in the list', options);
  if (pipeline.registeredTexts === undefined) return new SvcError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported', options);
  return new SvcError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', options);
}

function byHash(hash: string, { pipeline, snapshot, session }: Lookup): StoredDocument | null {
  return snapshot.storedOperations.document({ kind: 'hash', hash }, roleOf(pipeline, session));
}

function byName(name: string, { pipeline, snapshot, session }: Lookup): StoredDocument | null {
  return snapshot.storedOperations.document({ kind: 'name', name }, roleOf(pipeline, session));
}

/** Returns the role whose list counts; `null` if the documents of all collections do. */
function roleOf({ allowList }: Lookup['pipeline'], session: Session): string | null {
  return allowList === null || isAdmin(session) ? null : session.role;
}

/** Restricts roles to the operations of the allow-list, if the service enables it. Administrators may run any operation. */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { normalForm } from '../schema/stored/normal-form.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { GraphqlRequest } from './request.ts';
import { BoundedCache } from '../util/bounded-cache.ts';

export interface AllowList {
  /** @throws SvcError validation-failed if the role's list does not contain the document */
  check(stored: Pick<StoredOperations, 'allows' | 'document'>, session: Session, request: Pick<GraphqlRequest, 'query' | 'document'>): void;
}

export interface AllowListOptions {
  /** Maximum number of tokens of a document. */
  readonly maxTokens: number;
  /** If true, texts are rejected unread, even those in the list. */
  readonly documentsOnly: boolean;
}

/** Maximum length of a cached document; longer ones are parsed for every request. */
const MAX_CACHED_LENGTH = 65_536;
const MAX_CACHED_DOCUMENTS = 1_000;
/** Maximum size of all documents and their normal forms, in bytes. A character counts as two. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;

export function createAllowList({ maxTokens, documentsOnly }: AllowListOptions): AllowList {
  const forms = new BoundedCache<string, string>({ entries: MAX_CACHED_DOCUMENTS, bytes: MAX_CACHED_BYTES });
  const formOf = (query: string): string => {
    const cached = forms.get(query);
    if (cached !== undefined) return cached;
    const form = normalForm(query, maxTokens);
    if (query.length <= MAX_CACHED_LENGTH) forms.set(query, form, 2 * (query.length + form.length));
    return form;
  };
  return {
    check(stored, session, { query, document }) {
      if (isAdmin(session)) return;
      if (document?.stored != null) {
        // The list may have changed since the id was looked up.
        if (stored.document({ kind: 'hash', hash: document.stored.sha256 }, session.role) !== null) return;
      } else {
        if (documentsOnly && document?.via !== 'rest')
          throw new SvcError('validation-failed', 'only known documents are allowed: send documentId', { status: 400 });
        if (stored.allows(session.role, formOf(query))) return;
      }
      throw new SvcError('validation-failed', 'query is not allowed', { internal: { message: 'query is not in any of the allowlists' } });
    },
  };
}

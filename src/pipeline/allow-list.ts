/** Lets only listed operations through, where the service is set so. Administrators may ask anything. */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { normalForm } from '../schema/stored/normal-form.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import { BoundedCache } from '../util/bounded-cache.ts';

export interface AllowList {
  /** @throws SvcError validation-failed when the document is not on the list for the role */
  check(stored: Pick<StoredOperations, 'allows'>, session: Session, query: string): void;
}

/** Longer documents are read anew for every request. */
const KEPT_LENGTH = 65_536;
const KEPT_DOCUMENTS = 1_000;
/** Bytes of all documents and their forms, of two bytes for each character. */
const KEPT_BYTES = 64 * 1024 * 1024;

export function createAllowList(maxTokens: number): AllowList {
  const forms = new BoundedCache<string, string>({ entries: KEPT_DOCUMENTS, bytes: KEPT_BYTES });
  const formOf = (query: string): string => {
    const known = forms.get(query);
    if (known !== undefined) return known;
    const form = normalForm(query, maxTokens);
    if (query.length <= KEPT_LENGTH) forms.set(query, form, 2 * (query.length + form.length));
    return form;
  };
  return {
    check(stored, session, query) {
      if (isAdmin(session) || stored.allows(session.role, formOf(query))) return;
      throw new SvcError('validation-failed', 'query is not allowed', { internal: { message: 'query is not in any of the allowlists' } });
    },
  };
}

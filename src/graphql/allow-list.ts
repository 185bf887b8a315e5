/** Lets only listed operations through, where the service is set so. Administrators may ask anything. */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { normalForm } from '../schema/stored/normal-form.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import { LruMap } from '../util/lru.ts';

export interface AllowList {
  /** @throws SvcError validation-failed when the document is not on the list for the role */
  check(stored: Pick<StoredOperations, 'allows'>, session: Session, query: string): void;
}

/** Longer documents are read anew for every request. */
const KEPT_LENGTH = 65_536;
const KEPT_DOCUMENTS = 1_000;

export function createAllowList(maxTokens: number): AllowList {
  const forms = new LruMap<string, string>(KEPT_DOCUMENTS);
  const formOf = (query: string): string => {
    const known = forms.get(query);
    if (known !== undefined) return known;
    const form = normalForm(query, maxTokens);
    if (query.length <= KEPT_LENGTH) forms.set(query, form);
    return form;
  };
  return {
    check(stored, session, query) {
      if (isAdmin(session) || stored.allows(session.role, formOf(query))) return;
      throw new SvcError('validation-failed', 'query is not allowed', { internal: { message: 'query is not in any of the allowlists' } });
    },
  };
}

import type { AuthenticationMethod } from '../auth/credentials.ts';
import type { Session } from '../auth/session.ts';
import type { ChangeOrigin } from '../metadata-store/metadata-history.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';

const USER_VARIABLE = 'x-svc-user-id';
/** Maximum number of operation types in a record of a request. */
export const MAX_OPERATION_TYPES = 100;

/** Returns the id of the user of a session. */
export function userOf(session: Session): string | null {
  return session.variables.get(USER_VARIABLE) ?? null;
}

/** Client of a request that changes the metadata. */
export interface Author extends Pick<RequestOptions, 'headers' | 'address' | 'requestId'> {
  readonly session: Session;
  /** Form of authentication, for the history of changes. */
  readonly method?: AuthenticationMethod;
}

/** Returns the author of a change for the history. @param operations types of the operations that were run */
export function originOf({ session, method, headers, address, requestId }: Author, operations: readonly string[]): ChangeOrigin {
  return {
    role: session.role,
    user: userOf(session),
    credentials: method ?? null,
    client: headers?.['x-svc-client-name']?.toString() ?? null,
    ip: address ?? null,
    requestId: requestId ?? null,
    operations: [...new Set(operations)].slice(0, MAX_OPERATION_TYPES),
  };
}

/** Identity and session variables of the client. */
export interface Session {
  readonly role: string;
  /** Lower-case names (`x-svc-user-id`), the role included; values are always text. */
  readonly variables: ReadonlyMap<string, string>;
  /** Set if the request is trusted and has `X-Svc-Use-Backend-Only-Permissions`. */
  readonly backendOnly: boolean;
  /** Prefixes of database settings that mirror `svc.user`: `hasura` for `hasura.user`. */
  readonly settingPrefixes?: readonly string[];
  /** Epoch milliseconds after which a websocket must be closed. */
  readonly expiresAt?: number;
}

export const ADMIN_ROLE = 'admin';

export function isAdmin(session: Session): boolean {
  return session.role === ADMIN_ROLE;
}

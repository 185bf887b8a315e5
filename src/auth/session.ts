/** Who is asking. */
export interface Session {
  readonly role: string;
  /** Lower-case names (`x-svc-user-id`), the role included; values are always text. */
  readonly variables: ReadonlyMap<string, string>;
  /** Trusted and asked for with `X-Svc-Use-Backend-Only-Permissions`. */
  readonly backendOnly: boolean;
  /** Prefixes of settings of the database that say what `svc.user` does: `hasura` for `hasura.user`. Absent: there are none. */
  readonly settingPrefixes?: readonly string[];
  /** epoch milliseconds after which a websocket must be closed */
  readonly expiresAt?: number;
}

export const ADMIN_ROLE = 'admin';

export function isAdmin(session: Session): boolean {
  return session.role === ADMIN_ROLE;
}

import type { Diagnostics } from '../../backend/diagnostics.ts';

/** Refusal of a user in favour of an anonymous account on the server's own host. */
const DENIED_LOCALLY = /Access denied for user '([^']*)'@'localhost'/i;

/** MariaDB findings of `svc doctor`. */
export const diagnostics: Diagnostics = {
  async inspect({ name, query }) {
    const user = (await query('select current_user()'))[0]?.[0] ?? '';
    if (!user.startsWith('@')) return [];
    return [
      {
        id: 'anonymous-user',
        severity: 'warning',
        cause: `${name}: MariaDB identifies the service as the anonymous user ''${user}`,
        remedy: `drop user ''@'localhost', or create an account for this host for the user of the connection`,
      },
    ];
  },
  remedyOf(reason) {
    const user = DENIED_LOCALLY.exec(reason)?.[1];
    if (user === undefined) return undefined;
    return `check the password. If it is right, the anonymous user of a new MariaDB hides '${user}'@'%' on the same host: drop user ''@'localhost', or create '${user}'@'localhost'`;
  },
};

import type { Diagnostics } from '../../backend/diagnostics.ts';

/** Refusal of a user that MariaDB takes for an account of its own machine. */
const DENIED_LOCALLY = /Access denied for user '([^']*)'@'localhost'/i;

/** Findings of `svc doctor` in MariaDB. */
export const diagnostics: Diagnostics = {
  async inspect({ name, query }) {
    const user = (await query('select current_user()'))[0]?.[0] ?? '';
    if (!user.startsWith('@')) return [];
    return [
      {
        id: 'anonymous-user',
        severity: 'warning',
        cause: `${name}: MariaDB takes the service for the anonymous user ''${user}`,
        remedy: `drop user ''@'localhost', or give the user of the connection an account for this machine`,
      },
    ];
  },
  remedyOf(reason) {
    const user = DENIED_LOCALLY.exec(reason)?.[1];
    if (user === undefined) return undefined;
    return `look at the password; where it is right, the anonymous user of a new MariaDB hides '${user}'@'%' from the same machine: drop user ''@'localhost', or create '${user}'@'localhost'`;
  },
};

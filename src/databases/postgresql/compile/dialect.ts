import type { Dialect } from '../../../sql/fragment.ts';

/** How PostgreSQL writes the leaves of SQL trees. */
export const dialect: Dialect = {
  identifier: (name) => (name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`),
  // The escape form means the same whatever `standard_conforming_strings` is.
  string: (value) => {
    const quoted = `'${value.replaceAll("'", "''")}'`;
    return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
  },
  placeholder: (index) => `$${index}`,
  sharesPlaceholders: true,
};

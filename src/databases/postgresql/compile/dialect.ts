import type { Dialect } from '../../../sql/fragment.ts';

/** Syntax of PostgreSQL for the leaves of SQL trees. */
export const dialect: Dialect = {
  identifier: (name) => (name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`),
  // The escape form does not depend on `standard_conforming_strings`.
  string: (value) => {
    const quoted = `'${value.replaceAll("'", "''")}'`;
    return quoted.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
  },
  parameterMarker: (index) => `$${index}`,
  sharesParameterMarkers: true,
};

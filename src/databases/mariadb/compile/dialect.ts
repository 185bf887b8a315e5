import type { Dialect } from '../../../sql/fragment.ts';

/** SQL syntax of MariaDB. The session's `sql_mode` has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES. */
export const dialect: Dialect = {
  identifier: (name) => `\`${name.replaceAll('`', '``')}\``,
  string: (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
  parameterMarker: () => '?',
  sharesParameterMarkers: false,
};

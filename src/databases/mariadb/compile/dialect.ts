import type { Dialect } from '../../../sql/fragment.ts';

/** How MariaDB writes the leaves of SQL trees; the session's `sql_mode` has neither ANSI quotes nor NO_BACKSLASH_ESCAPES. */
export const dialect: Dialect = {
  identifier: (name) => `\`${name.replaceAll('`', '``')}\``,
  string: (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
  placeholder: () => '?',
  sharesPlaceholders: false,
};

import type { Dialect } from '../../sql/fragment.ts';

/** Quoting of the database of the legacy API; its backend is out of reach here, and so is its own. */
export const dialect: Dialect = {
  identifier: (name) => `"${name.replaceAll('"', '""')}"`,
  string: (value) => `'${value.replaceAll("'", "''")}'`,
  placeholder: (index) => `$${index}`,
  sharesPlaceholders: true,
};

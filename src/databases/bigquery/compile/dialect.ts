import type { Dialect } from '../../../sql/fragment.ts';

/** What names begin with that statements make for themselves. */
const OURS = '__svc_';

/** Names with a colon are ours; the database takes letters, digits and underscores only. */
function ownName(name: string): string {
  return `${OURS}${name.slice(1)}`;
}

export function isOurs(name: string): boolean {
  return name.toLowerCase().startsWith(OURS);
}

/** How BigQuery writes the leaves of SQL trees. */
export const dialect: Dialect = {
  identifier: (name) => `\`${(name.startsWith(':') ? ownName(name) : name).replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``,
  string: (value) => `'${value.replace(/[\\'\n\r\0]/g, escaped)}'`,
  placeholder: (index) => `@p${index}`,
  sharesPlaceholders: false,
};

function escaped(character: string): string {
  switch (character) {
    case '\n':
      return '\\n';
    case '\r':
      return '\\r';
    case '\0':
      return '\\x00';
    default:
      return `\\${character}`;
  }
}

import type { Dialect } from '../../../sql/fragment.ts';

/** Prefix of the names that statements generate. */
const RESERVED_PREFIX = '__svc_';

/** Converts a generated name, which starts with a colon: BigQuery allows only letters, digits and underscores. */
function ownName(name: string): string {
  return `${RESERVED_PREFIX}${name.slice(1)}`;
}

export function isReservedName(name: string): boolean {
  return name.toLowerCase().startsWith(RESERVED_PREFIX);
}

/** SQL syntax of BigQuery. */
export const dialect: Dialect = {
  identifier: (name) => `\`${(name.startsWith(':') ? ownName(name) : name).replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``,
  string: (value) => `'${value.replace(/[\\'\n\r\0]/g, escaped)}'`,
  parameterMarker: (index) => `@p${index}`,
  sharesParameterMarkers: false,
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

/** Types as text, such as `[Int!]!`. */

/** Removes the outermost `!`. */
export function nullableType(text: string): string {
  return text.endsWith('!') ? text.slice(0, -1) : text;
}

/** Type of the items of a list; undefined for other types. */
export function itemType(text: string): string | undefined {
  const type = nullableType(text);
  return type.startsWith('[') && type.endsWith(']') ? type.slice(1, -1) : undefined;
}

/** Name of a type without lists and `!`. */
export function coreType(text: string): string {
  return text.replace(/[[\]!]/g, '');
}

/** Returns true if a variable of a type may be used where another type is expected. */
export function isUsableAs(variable: string, expected: string): boolean {
  if (expected.endsWith('!')) return variable.endsWith('!') && isUsableAs(variable.slice(0, -1), expected.slice(0, -1));
  const own = nullableType(variable);
  const [item, expectedItem] = [itemType(own), itemType(expected)];
  if (item === undefined || expectedItem === undefined) return own === expected;
  return isUsableAs(item, expectedItem);
}

/** A value that is not a list, an object or null. */
export interface SimpleValue {
  readonly kind: 'number' | 'string' | 'boolean' | 'enum';
  readonly text: string;
}

/** Describes what a built-in scalar expects if it does not accept the value. Other scalars accept every value. */
export function scalarFault(type: string, { kind, text }: SimpleValue): string | undefined {
  const isNumber = kind === 'number';
  switch (type) {
    case 'Int':
      // Columns accept digits in quotes.
      return (isNumber && Number.isInteger(Number(text))) || (kind === 'string' && /^"?-?\d+"?$/.test(text)) ? undefined : 'a whole number';
    case 'Float':
      return isNumber || (kind === 'string' && /\d/.test(text)) ? undefined : 'a number';
    case 'Boolean':
      return kind === 'boolean' ? undefined : 'true or false';
    case 'String':
      return kind === 'string' ? undefined : 'a string';
    case 'ID':
      return kind === 'string' || isNumber ? undefined : 'a string';
    default:
      return undefined;
  }
}

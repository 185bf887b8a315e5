/** PostgreSQL array input syntax: `{"a","b \"c\""}`; null is an element that is NULL. */
export type ArrayElement = string | null | readonly ArrayElement[];

/** @param delimiter `,` for every built-in type but `box`, which has `;` */
export function arrayLiteral(elements: readonly ArrayElement[], delimiter: ',' | ';' = ','): string {
  return `{${elements.map((element) => elementLiteral(element, delimiter)).join(delimiter)}}`;
}

function elementLiteral(element: ArrayElement, delimiter: ',' | ';'): string {
  if (element === null) return 'NULL';
  if (typeof element === 'string') return `"${element.replace(/["\\]/g, '\\$&')}"`;
  return arrayLiteral(element, delimiter);
}

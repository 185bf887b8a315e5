/** Parses headers that list acceptable values with weights: `Accept`, `Accept-Encoding` (RFC 9110, section 12.4.2). */

export interface Preference {
  /** In lower case, without parameters, e.g. `gzip`, `application/json`. */
  readonly name: string;
  /** From 0 (not acceptable) to 1. */
  readonly weight: number;
}

/** Returns the items in the order of the header; an invalid weight counts as 0. */
export function preferences(header: string | string[] | undefined): readonly Preference[] {
  if (header === undefined) return [];
  const text = Array.isArray(header) ? header.join(',') : header;
  const found: Preference[] = [];
  for (const item of text.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name === '') continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    found.push({ name, weight: weight > 0 ? Math.min(weight, 1) : 0 });
  }
  return found;
}

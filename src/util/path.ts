/**
 * A position inside a JSON document or a GraphQL operation, kept as a linked list so that
 * decoders hand it down for the price of one small object and print it only when something fails.
 */
export interface Path {
  readonly parent: Path | undefined;
  readonly key: string | number;
}

/** The root, printed as `$`. */
export const ROOT: Path = { parent: undefined, key: '$' };

/** The path of an entry of what lies at `parent`. */
export function at(parent: Path, key: string | number): Path {
  return { parent, key };
}

/** `at` for several keys in a row. */
export function along(parent: Path, ...keys: readonly (string | number)[]): Path {
  return keys.reduce<Path>(at, parent);
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Prints `$.args.columns[0]`; keys that are no plain names are printed as `["a b"]`. */
export function printPath(path: Path): string {
  const keys: (string | number)[] = [];
  for (let p: Path = path; p.parent !== undefined; p = p.parent) keys.push(p.key);
  let text = '$';
  for (const key of keys.reverse()) {
    if (typeof key === 'number') text += `[${key}]`;
    else text += PLAIN.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  }
  return text;
}

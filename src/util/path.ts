/**
 * Position in a JSON document or a GraphQL operation. A linked list, so that decoders pass it down for the cost of one small object, and
 * print it only in an error.
 */
export interface Path {
  readonly parent: Path | undefined;
  readonly key: string | number;
}

/** Root, printed as `$`. */
export const ROOT: Path = { parent: undefined, key: '$' };

/** Path of an entry of `parent`. */
export function at(parent: Path, key: string | number): Path {
  return { parent, key };
}

/** `at` for several nested keys. */
export function along(parent: Path, ...keys: readonly (string | number)[]): Path {
  return keys.reduce<Path>(at, parent);
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Prints `$.args.columns[0]`, and `["a b"]` for keys that are not plain names. */
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

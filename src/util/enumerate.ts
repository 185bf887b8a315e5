/** Returns `a`, `a and b`, or `a, b, and c`. */
export function enumerate(names: readonly string[]): string {
  if (names.length <= 2) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}

/** Like `enumerate`, with each name in double quotes. */
export function enumerateQuoted(names: Iterable<string>): string {
  return enumerate(Array.from(names, (name) => JSON.stringify(name)));
}

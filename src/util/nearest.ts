/** Maximum length of a name; longer ones cost too much to compare. */
const MAX_LENGTH = 64;

/** Number of insertions, deletions, replacements and swaps of neighbours between two texts. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + (same ? 0 : 1),
          swapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return cell(a.length, b.length);
}

/**
 * Finds the known name that was probably meant: one with a small distance, or with the same beginning.
 * @returns `undefined` if there is none
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const lower = word.toLowerCase();
  let best: { readonly name: string; readonly far: number } | undefined;
  for (const name of known) {
    if (name.length > MAX_LENGTH) continue;
    const far = distance(lower, name.toLowerCase());
    const near = far <= Math.max(1, Math.floor(Math.max(word.length, name.length) / 3));
    const begins = word.length >= 3 && name.toLowerCase().startsWith(lower);
    if ((near || begins) && (best === undefined || far < best.far)) best = { name, far };
  }
  return best?.name;
}

/** What is longer is no slip of the pen, and would cost too much to compare. */
const LONGEST = 64;

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
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

/** The name that was probably meant: one that differs in little, or that begins like the given one; undefined if there is none. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  if (given.length > LONGEST) return undefined;
  const lower = given.toLowerCase();
  let best: { readonly name: string; readonly far: number } | undefined;
  for (const name of known) {
    if (name.length > LONGEST) continue;
    const far = distance(lower, name.toLowerCase());
    const near = far <= Math.max(1, Math.floor(Math.max(given.length, name.length) / 3));
    const begins = given.length >= 3 && name.toLowerCase().startsWith(lower);
    if ((near || begins) && (best === undefined || far < best.far)) best = { name, far };
  }
  return best?.name;
}

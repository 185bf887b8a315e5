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

/** Maximum cells of all distance tables of a search: about 10 ms. Names beyond it are not compared. */
const MAX_CELLS = 1_000_000;

interface Near {
  readonly name: string;
  readonly far: number;
}

/**
 * Finds the known names that were probably meant: those with a small distance, or with the same beginning.
 * @returns at most `count` names, nearest first; names with the same distance keep their order
 */
export function nearestNames(word: string, known: Iterable<string>, count: number): readonly string[] {
  if (word.length > MAX_LENGTH) return [];
  const lower = word.toLowerCase();
  const found: Near[] = [];
  let cells = 0;
  for (const name of known) {
    if (name.length > MAX_LENGTH) continue;
    const begins = word.length >= 3 && name.toLowerCase().startsWith(lower);
    const allowed = Math.max(1, Math.floor(Math.max(word.length, name.length) / 3));
    if (!begins && Math.abs(name.length - word.length) > allowed) continue;
    cells += (word.length + 1) * (name.length + 1);
    if (cells > MAX_CELLS) break;
    const far = distance(lower, name.toLowerCase());
    if (begins || far <= allowed) found.push({ name, far });
  }
  return found
    .sort((a, b) => a.far - b.far)
    .slice(0, count)
    .map(({ name }) => name);
}

/** Returns the nearest of `nearestNames`. @returns `undefined` if there is none */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return nearestNames(word, known, 1)[0];
}

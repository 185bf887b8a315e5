/** Maximum length of a name; longer ones cost too much to compare. */
const MAX_LENGTH = 64;
/** Maximum number of edits of a suggested name. */
const MAX_EDITS = 4;
/** Maximum names that a search looks at, and cells of its distance tables: together about 5 ms. */
const MAX_NAMES = 20_000;
const MAX_CELLS = 1_000_000;

/**
 * Number of insertions, deletions, replacements and swaps of neighbours between two texts, if there are at most `most`. Only cells near
 * the diagonal are computed.
 * @param cells space for the table of distances
 * @returns `undefined` if there are more
 */
function distance(a: string, b: string, most: number, cells: Uint8Array): number | undefined {
  const width = b.length + 1;
  cells.fill(most + 1, 0, (a.length + 1) * width);
  for (let j = 0; j <= Math.min(b.length, most); j++) cells[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const row = i * width;
    if (i <= most) cells[row] = i;
    let least = most + 1;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let edits = Math.min(at(cells, row - width + j) + 1, at(cells, row + j - 1) + 1, at(cells, row - width + j - 1) + (same ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (isSwap) edits = Math.min(edits, at(cells, row - 2 * width + j - 2) + 1);
      cells[row + j] = edits;
      least = Math.min(least, edits);
    }
    if (least > most && i > most) return undefined;
  }
  const edits = at(cells, a.length * width + b.length);
  return edits <= most ? edits : undefined;
}

const at = (cells: Uint8Array, index: number): number => cells[index] as number;

/** Returns the parts of two texts between their common beginning and end. */
function differingParts(a: string, b: string): readonly [string, string] {
  let start = 0;
  const shorter = Math.min(a.length, b.length);
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let end = 0;
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

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
  let names = 0;
  const cells = new Uint8Array((MAX_LENGTH + 1) ** 2);
  let computed = 0;
  for (const name of known) {
    if (++names > MAX_NAMES) break;
    if (name.length > MAX_LENGTH) continue;
    const candidate = name.toLowerCase();
    if (word.length >= 3 && candidate.startsWith(lower)) {
      found.push({ name, far: name.length - word.length });
      continue;
    }
    const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(Math.max(word.length, name.length) / 3)));
    if (Math.abs(name.length - word.length) > allowed || computed > MAX_CELLS) continue;
    const [a, b] = differingParts(lower, candidate);
    computed += (a.length + 1) * Math.min(b.length + 1, 2 * allowed + 1);
    const far = distance(a, b, allowed, cells);
    if (far !== undefined) found.push({ name, far });
  }
  return found
    .sort((one, other) => one.far - other.far)
    .slice(0, count)
    .map(({ name }) => name);
}

/** Returns the nearest of `nearestNames`. @returns `undefined` if there is none */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return nearestNames(word, known, 1)[0];
}

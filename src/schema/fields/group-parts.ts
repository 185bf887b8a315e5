/** Collects the parts of the key of one `groups` field. */
import type { GroupedRow, GroupPart } from '../../ir/select.ts';
import type { Path } from '../../util/path.ts';
import { invalid } from './input.ts';

/** Related rows are joined, and the time to plan grows with the cube of the number of joins. */
const MAX_RELATED = 32;
/** Databases limit the number of columns of a select. */
const MAX_PARTS = 256;

/** The parts of one `groups` field. */
export class GroupParts {
  readonly parts: GroupPart[] = [];
  readonly related: GroupedRow[] = [];
  /** Indexes by what they read. */
  readonly #indexes = new Map<string, number>();
  readonly #rows = new Map<string, number>();
  /** Indexes by the name in the order, in the order of the selection. */
  readonly #named = new Map<string, number[]>();

  /**
   * @param name place in the key: `author.country`
   * @returns its index; equal parts have the same one
   * @throws SvcError if there are too many
   */
  add(part: GroupPart, name: string, path: Path): number {
    const key = `${part.kind} ${name} ${part.kind === 'read' ? keyOfPart(part) : ''}`;
    let index = this.#indexes.get(key);
    if (index === undefined) {
      if (this.parts.length === MAX_PARTS) throw invalid(`a key has at most ${MAX_PARTS} parts`, path);
      index = this.parts.push(part) - 1;
      this.#indexes.set(key, index);
      if (part.kind === 'read') this.#named.set(name, [...(this.#named.get(name) ?? []), index]);
    }
    return index;
  }

  /** @param name place of the relationship in the key @returns the index of the related row */
  row(row: GroupedRow, name: string, path: Path): number {
    let index = this.#rows.get(name);
    if (index === undefined) {
      if (this.related.length === MAX_RELATED) throw invalid(`a key reads at most ${MAX_RELATED} related rows`, path);
      index = this.related.push(row) - 1;
      this.#rows.set(name, index);
    }
    return index;
  }

  /** Returns the parts of this name. */
  named(name: string): readonly number[] {
    return this.#named.get(name) ?? [];
  }
}

/** Text of what a part reads at its place. Two variables are two values. */
function keyOfPart({ read, bucket }: Extract<GroupPart, { readonly kind: 'read' }>): string {
  const column = read.kind === 'column' ? read.column : read.kind;
  if (bucket === undefined) return column;
  const { zone, ...rest } = bucket;
  const of = zone?.kind === 'variable' ? [zone.name, ...zone.path] : zone;
  return JSON.stringify([column, rest, of]);
}

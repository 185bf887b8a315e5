/** Anchors of headings as on GitHub. */

/** Numbers duplicates within one page. */
export class Anchors {
  readonly #taken = new Set<string>();

  /** @param heading Markdown of the heading */
  add(heading: string): string {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let n = 1; this.#taken.has(anchor); n++) anchor = `${slug}-${n}`;
    this.#taken.add(anchor);
    return anchor;
  }

  has(anchor: string): boolean {
    return this.#taken.has(anchor);
  }
}

/** Totals of requests by document id since the start. */
import type { DocumentReference } from './document-reference.ts';

export class DocumentCounts {
  /** GET requests that were answered with 304. */
  notModified = 0;
  readonly #byLabels = new Map<string, { readonly labels: readonly [string, string]; value: number }>();

  add(via: DocumentReference['via'], result: 'found' | 'unknown'): void {
    const key = `${via} ${result}`;
    const known = this.#byLabels.get(key);
    if (known === undefined) this.#byLabels.set(key, { labels: [via, result], value: 1 });
    else known.value += 1;
  }

  samples(): { readonly labels: readonly string[]; readonly value: number }[] {
    return [...this.#byLabels.values()];
  }
}

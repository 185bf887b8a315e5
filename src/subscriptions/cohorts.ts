/** The cohorts of a poller, one for each combination of values. */
import type { LiveQuery } from '../backend/backend.ts';
import { Cohort, type CohortOwner } from './cohort.ts';

export class Cohorts {
  /** Cohorts with a member that has not got any answer yet. */
  readonly fresh = new Set<Cohort>();
  readonly #owner: CohortOwner;
  readonly #query: LiveQuery;
  readonly #byValues = new Map<string, Cohort>();

  constructor(owner: CohortOwner, query: LiveQuery) {
    this.#owner = owner;
    this.#query = query;
  }

  get size(): number {
    return this.#byValues.size;
  }

  all(): IterableIterator<Cohort> {
    return this.#byValues.values();
  }

  /** Returns the cohort of these values, a new one if necessary. */
  of(values: readonly (string | null)[]): Cohort {
    const key = keyOf(values);
    let cohort = this.#byValues.get(key);
    if (cohort === undefined) {
      cohort = new Cohort(this.#owner, values, this.#query.isTimeless(values));
      this.#byValues.set(key, cohort);
    }
    return cohort;
  }

  /** Removes a cohort without members. */
  forget(cohort: Cohort): void {
    cohort.end();
    this.fresh.delete(cohort);
    const key = keyOf(cohort.values);
    if (this.#byValues.get(key) === cohort) this.#byValues.delete(key);
  }

  end(): void {
    for (const cohort of this.all()) cohort.end();
    this.fresh.clear();
  }
}

function keyOf(values: readonly (string | null)[]): string {
  return values.length === 0 ? '' : JSON.stringify(values);
}

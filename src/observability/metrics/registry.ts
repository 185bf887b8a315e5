/**
 * What is counted, as plain fields: whoever counts holds the field and adds to it; names and labels are looked at when somebody
 * asks. Bounded: a metric has no more than `MOST_SERIES` combinations of labels, all others are counted together.
 */
import { Histogram } from './histogram.ts';

export interface MetricDefinition {
  /** With its unit, and `_total` where it only grows. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Of these labels, the ones that clients or many objects of the metadata fill: left out without high-cardinality labels. */
  readonly freeLabels: readonly string[];
  /** Of a histogram. */
  readonly bounds: readonly number[];
}

export class Counter {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** Values of the labels in their order. */
export type LabelValues = readonly string[];

export interface Sample {
  readonly labels: LabelValues;
  readonly value: number | Histogram;
}

export interface MetricFamily {
  readonly definition: MetricDefinition;
  /** Of the definition, those that are told. */
  readonly labels: readonly string[];
  samples(): Promise<readonly Sample[]>;
}

/** Gives what is counted elsewhere; a gauge, or a counter whose owner comes and goes. */
export type Reader = () => readonly Sample[] | Promise<readonly Sample[]>;

export const OTHER = '_other';
const MOST_SERIES = 1000;

interface Series {
  readonly labels: LabelValues;
  readonly value: Counter | Histogram;
}

class KeptFamily implements MetricFamily {
  readonly definition: MetricDefinition;
  readonly labels: readonly string[];
  readonly #told: readonly boolean[];
  readonly #series = new Map<string, Series>();
  readonly #readers: Reader[] = [];

  constructor(definition: MetricDefinition, withFreeLabels: boolean) {
    this.definition = definition;
    this.#told = definition.labels.map((label) => withFreeLabels || !definition.freeLabels.includes(label));
    this.labels = definition.labels.filter((_, i) => this.#told[i]);
  }

  series<T extends Counter | Histogram>(given: LabelValues, make: () => T): T {
    const values = this.#shown(given);
    const key = JSON.stringify(values);
    let found = this.#series.get(key);
    if (found === undefined && this.#series.size >= MOST_SERIES) return this.#others(values, make);
    if (found === undefined) {
      found = { labels: values, value: make() };
      this.#series.set(key, found);
    }
    return found.value as T;
  }

  read(reader: Reader): void {
    this.#readers.push(reader);
  }

  async samples(): Promise<readonly Sample[]> {
    const own = [...this.#series.values()].map(({ labels, value }) => ({ labels, value: value instanceof Counter ? value.value : value }));
    const read = await Promise.all(this.#readers.map(async (reader) => reader()));
    return together([...own, ...read.flat().map(({ labels, value }) => ({ labels: this.#shown(labels), value }))]);
  }

  #shown(values: LabelValues): LabelValues {
    return values.length === this.labels.length && this.labels.length === this.definition.labels.length
      ? values
      : values.filter((_, i) => this.#told[i]);
  }

  #others<T extends Counter | Histogram>(values: LabelValues, make: () => T): T {
    const labels = values.map(() => OTHER);
    const key = JSON.stringify(labels);
    let found = this.#series.get(key);
    if (found === undefined) {
      found = { labels, value: make() };
      this.#series.set(key, found);
    }
    return found.value as T;
  }
}

/** Samples of the same labels are one, as when a label is left out. */
function together(samples: readonly Sample[]): readonly Sample[] {
  const byLabels = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify(sample.labels);
    const known = byLabels.get(key);
    byLabels.set(key, known === undefined ? sample : { labels: sample.labels, value: sum(known.value, sample.value) });
  }
  return [...byLabels.values()];
}

function sum(one: number | Histogram, other: number | Histogram): number | Histogram {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) + Number(other);
  const both = new Histogram(one.bounds);
  both.counts.forEach((_, i) => {
    both.counts[i] = (one.counts[i] ?? 0) + (other.counts[i] ?? 0);
  });
  both.sum = one.sum + other.sum;
  return both;
}

export interface RegistryOptions {
  /** Whether the labels are told that clients fill. */
  readonly freeLabels: boolean;
}

export class Registry {
  /** When the counting began: ms since the epoch. */
  readonly since = Date.now();
  readonly #families = new Map<string, KeptFamily>();

  /** @param definitions of all that may be counted */
  constructor(definitions: readonly MetricDefinition[], { freeLabels }: RegistryOptions) {
    for (const definition of definitions) this.#families.set(definition.name, new KeptFamily(definition, freeLabels));
  }

  get families(): readonly MetricFamily[] {
    return [...this.#families.values()];
  }

  /** The field to add to; the same one for the same values. */
  counter(definition: MetricDefinition, ...values: LabelValues): Counter {
    return this.#family(definition).series(values, () => new Counter());
  }

  histogram(definition: MetricDefinition, ...values: LabelValues): Histogram {
    return this.#family(definition).series(values, () => new Histogram(definition.bounds));
  }

  /** Asked whenever somebody asks. */
  read(definition: MetricDefinition, reader: Reader): void {
    this.#family(definition).read(reader);
  }

  #family({ name }: MetricDefinition): KeptFamily {
    const family = this.#families.get(name);
    if (family === undefined) throw new Error(`invariant: the metric ${name} is in the table`);
    return family;
  }
}

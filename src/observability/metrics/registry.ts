/**
 * Registry of metrics as plain fields: code that counts holds a field and adds to it; names and labels are used only when metrics are
 * collected. A metric has at most `MAX_SERIES` combinations of labels; all others are counted together.
 */
import { Histogram } from './histogram.ts';

export interface MetricDefinition {
  /** Name with the unit, and the suffix `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Labels with many possible values, which are omitted without high-cardinality labels. */
  readonly freeLabels: readonly string[];
  /** Bounds of a histogram. */
  readonly bounds: readonly number[];
}

export class Counter {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** Values in the order of the labels. */
export type LabelValues = readonly string[];

export interface Sample {
  readonly labels: LabelValues;
  readonly value: number | Histogram;
}

export interface MetricFamily {
  readonly definition: MetricDefinition;
  /** Labels of the definition without omitted ones. */
  readonly labels: readonly string[];
  samples(): Promise<readonly Sample[]>;
}

/** Reads values that are held elsewhere: a gauge, or a counter whose owner has a limited life. */
export type MetricReader = () => readonly Sample[] | Promise<readonly Sample[]>;

export const OTHER = '_other';
const MAX_SERIES = 1000;

interface Series {
  readonly labels: LabelValues;
  readonly value: Counter | Histogram;
}

class Family implements MetricFamily {
  readonly definition: MetricDefinition;
  readonly labels: readonly string[];
  readonly #isShown: readonly boolean[];
  readonly #series = new Map<string, Series>();
  readonly #readers: MetricReader[] = [];

  constructor(definition: MetricDefinition, withFreeLabels: boolean) {
    this.definition = definition;
    this.#isShown = definition.labels.map((label) => withFreeLabels || !definition.freeLabels.includes(label));
    this.labels = definition.labels.filter((_, i) => this.#isShown[i]);
  }

  series<T extends Counter | Histogram>(all: LabelValues, make: () => T): T {
    const values = this.#shown(all);
    const key = JSON.stringify(values);
    let found = this.#series.get(key);
    if (found === undefined && this.#series.size >= MAX_SERIES) return this.#others(values, make);
    if (found === undefined) {
      found = { labels: values, value: make() };
      this.#series.set(key, found);
    }
    return found.value as T;
  }

  read(reader: MetricReader): void {
    this.#readers.push(reader);
  }

  async samples(): Promise<readonly Sample[]> {
    const own = [...this.#series.values()].map(({ labels, value }) => ({ labels, value: value instanceof Counter ? value.value : value }));
    const read = await Promise.all(this.#readers.map(async (reader) => reader()));
    return merged([...own, ...read.flat().map(({ labels, value }) => ({ labels: this.#shown(labels), value }))]);
  }

  #shown(values: LabelValues): LabelValues {
    return values.length === this.labels.length && this.labels.length === this.definition.labels.length
      ? values
      : values.filter((_, i) => this.#isShown[i]);
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

/** Adds up samples with equal labels, which occur if a label is omitted. */
function merged(samples: readonly Sample[]): readonly Sample[] {
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
  /** Includes labels with many possible values. */
  readonly freeLabels: boolean;
}

export class Registry {
  /** Start of counting, in epoch milliseconds. */
  readonly since = Date.now();
  readonly #families = new Map<string, Family>();

  /** @param definitions of all metrics */
  constructor(definitions: readonly MetricDefinition[], { freeLabels }: RegistryOptions) {
    for (const definition of definitions) this.#families.set(definition.name, new Family(definition, freeLabels));
  }

  get families(): readonly MetricFamily[] {
    return [...this.#families.values()];
  }

  /** Returns the field to add to, which is the same for equal label values. */
  counter(definition: MetricDefinition, ...values: LabelValues): Counter {
    return this.#family(definition).series(values, () => new Counter());
  }

  histogram(definition: MetricDefinition, ...values: LabelValues): Histogram {
    return this.#family(definition).series(values, () => new Histogram(definition.bounds));
  }

  /** Adds a reader that is called whenever metrics are collected. */
  read(definition: MetricDefinition, reader: MetricReader): void {
    this.#family(definition).read(reader);
  }

  #family({ name }: MetricDefinition): Family {
    const family = this.#families.get(name);
    if (family === undefined) throw new Error(`invariant: the metric ${name} is in the table`);
    return family;
  }
}

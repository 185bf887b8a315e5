/** Metrics as the protocol has them: `ExportMetricsServiceRequest`. Sums and histograms are of all the time since they are counted. */
import type { MetricDefinition } from '../metrics/registry.ts';
import { encodeRequest, type TelemetryResource, writeAttributes, type Writer } from './wire.ts';

export interface ExportedPoint {
  readonly labels: readonly (readonly [string, string])[];
  /** Of a histogram all of it; it may go on counting. */
  readonly value: number | ExportedHistogram;
}

export interface ExportedHistogram {
  readonly bounds: readonly number[];
  /** Of each bucket alone; the last one is of what is beyond all bounds. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
  readonly count: number;
}

export interface ExportedMetric {
  readonly definition: Pick<MetricDefinition, 'name' | 'help' | 'type'>;
  /** When its counting began: ms since the epoch. */
  readonly since: number;
  readonly points: readonly ExportedPoint[];
}

const CUMULATIVE = 2;
/** Ends of names, before `_total`, and the units as UCUM writes them. */
const UNITS = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
] as const;
/** Of one request: a collector takes some megabytes. */
const MOST_POINTS = 5000;

/** As many requests as they need. @param at the time of the values: ms since the epoch */
export function* encodeMetrics(metrics: readonly ExportedMetric[], at: number, resource: TelemetryResource): Generator<Buffer> {
  for (const part of parts(metrics)) {
    yield encodeRequest(resource, (to) => {
      for (const metric of part) to.message(2, () => writeMetric(to, metric, at));
    });
  }
}

/** Those without points are left out. */
function* parts(metrics: readonly ExportedMetric[]): Generator<readonly ExportedMetric[]> {
  let part: ExportedMetric[] = [];
  let count = 0;
  for (const { points, ...metric } of metrics) {
    for (let from = 0; from < points.length; ) {
      const some = points.slice(from, from + MOST_POINTS - count);
      part.push({ ...metric, points: some });
      from += some.length;
      count += some.length;
      if (count < MOST_POINTS) continue;
      yield part;
      part = [];
      count = 0;
    }
  }
  if (part.length > 0) yield part;
}

function writeMetric(to: Writer, { definition: { name, help, type }, since, points }: ExportedMetric, at: number): void {
  to.text(1, name);
  to.text(2, help);
  const unit = UNITS.find(([end]) => name.replace(/_total$/, '').endsWith(end));
  if (unit !== undefined) to.text(3, unit[1]);
  to.message(FIELDS[type], () => {
    for (const point of points) to.message(1, () => writePoint(to, point, type === 'gauge' ? null : since, at));
    if (type !== 'gauge') to.int(2, CUMULATIVE);
    if (type === 'counter') to.int(3, 1);
  });
}

const FIELDS: Readonly<Record<MetricDefinition['type'], number>> = { gauge: 5, counter: 7, histogram: 9 };

/** @param since null: it is of the moment */
function writePoint(to: Writer, { labels, value }: ExportedPoint, since: number | null, at: number): void {
  if (since !== null) to.time(2, since);
  to.time(3, at);
  if (typeof value === 'number') {
    to.double(4, value);
    writeAttributes(to, 7, labels);
    return;
  }
  to.fixed64(4, value.count);
  to.double(5, value.sum);
  to.fixed64s(6, value.counts);
  to.doubles(7, value.bounds);
  writeAttributes(to, 9, labels);
}

/** Encodes metrics as `ExportMetricsServiceRequest`, with cumulative sums and histograms. */
import type { MetricDefinition } from '../metrics/registry.ts';
import { encodeRequest, type TelemetryResource, writeAttributes, type ProtobufWriter } from './wire.ts';

export interface ExportedPoint {
  readonly labels: readonly (readonly [string, string])[];
  /** A histogram may continue to count. */
  readonly value: number | ExportedHistogram;
}

export interface ExportedHistogram {
  readonly bounds: readonly number[];
  /** Number of values in each bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
  readonly count: number;
}

export interface ExportedMetric {
  readonly definition: Pick<MetricDefinition, 'name' | 'help' | 'type'>;
  /** Start of counting, in epoch milliseconds. */
  readonly since: number;
  readonly points: readonly ExportedPoint[];
}

const CUMULATIVE = 2;
/** Suffixes of names, before `_total`, with their UCUM units. */
const UNITS = [
  ['_seconds', 's'],
  ['_bytes', 'By'],
] as const;
/** Maximum number of points per request; collectors accept a few megabytes. */
const MAX_POINTS = 5000;

/** Yields as many requests as needed. @param at time of the values, in epoch milliseconds */
export function* encodeMetrics(metrics: readonly ExportedMetric[], at: number, resource: TelemetryResource): Generator<Buffer> {
  for (const part of parts(metrics)) {
    yield encodeRequest(resource, (to) => {
      for (const metric of part) to.message(2, () => writeMetric(to, metric, at));
    });
  }
}

/** Splits metrics into requests, without metrics that have no points. */
function* parts(metrics: readonly ExportedMetric[]): Generator<readonly ExportedMetric[]> {
  let part: ExportedMetric[] = [];
  let count = 0;
  for (const { points, ...metric } of metrics) {
    for (let from = 0; from < points.length; ) {
      const some = points.slice(from, from + MAX_POINTS - count);
      part.push({ ...metric, points: some });
      from += some.length;
      count += some.length;
      if (count < MAX_POINTS) continue;
      yield part;
      part = [];
      count = 0;
    }
  }
  if (part.length > 0) yield part;
}

function writeMetric(to: ProtobufWriter, { definition: { name, help, type }, since, points }: ExportedMetric, at: number): void {
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

/** @param since `null` for a gauge */
function writePoint(to: ProtobufWriter, { labels, value }: ExportedPoint, since: number | null, at: number): void {
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

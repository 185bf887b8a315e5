/** Aggregates over values. */
import { order } from './values.ts';
import type { Value } from './world.ts';

export interface Aggregated {
  readonly value: Value;
  /** True if the database rounds intermediate results. */
  readonly approximate: boolean;
}

/** @param rows one value per row, two for `corr` and `covar_samp`, any number for `count` */
export function aggregate(name: string, rows: readonly (readonly Value[])[], distinct: boolean): Aggregated {
  const exact = (value: Value): Aggregated => ({ value, approximate: false });
  if (name === 'count') return exact(count(rows, distinct));
  if (name === 'corr' || name === 'covar_samp') return { value: pairs(name, rows), approximate: true };
  let values = rows.map(([value]) => value ?? null).filter((value) => value !== null);
  if (distinct) values = [...new Set(values)];
  if (values.length === 0) return exact(null);
  switch (name) {
    case 'min':
      return exact(values.reduce((a, b) => (order(a, b) <= 0 ? a : b)));
    case 'max':
      return exact(values.reduce((a, b) => (order(a, b) >= 0 ? a : b)));
    case 'bool_and':
      return exact(!values.includes(false));
    case 'bool_or':
      return exact(values.includes(true));
    case 'sum':
      return exact(sum(values as number[]));
    case 'avg':
      return { value: sum(values as number[]) / values.length, approximate: true };
  }
  const variance = varianceOf(values as number[], name.endsWith('_pop'));
  return { value: variance === null || name.startsWith('var') ? variance : Math.sqrt(variance), approximate: true };
}

/** Several columns form a row, which is never null. */
function count(rows: readonly (readonly Value[])[], distinct: boolean): number {
  const counted = rows.filter((row) => row.length !== 1 || row[0] !== null);
  if (rows[0]?.length === 0) return rows.length;
  return distinct ? new Set(counted.map((value) => JSON.stringify(value))).size : counted.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

/** Computed from whole numbers of quarters, so that equal variances are equal numbers. */
function varianceOf(values: readonly number[], population: boolean): number | null {
  const n = values.length;
  const divisor = population ? n : n - 1;
  if (divisor <= 0) return null;
  const quarters = values.map((value) => value * 4);
  return (n * sum(quarters.map((value) => value * value)) - sum(quarters) ** 2) / (n * divisor * 16);
}

function pairs(name: string, rows: readonly (readonly Value[])[]): number | null {
  const both = rows.filter(([a, b]) => a !== null && b !== null);
  const n = both.length;
  const xs = both.map(([a]) => a as number);
  const ys = both.map(([, b]) => b as number);
  const meanX = sum(xs) / n;
  const meanY = sum(ys) / n;
  const products = sum(xs.map((value, i) => (value - meanX) * ((ys[i] as number) - meanY)));
  if (name === 'covar_samp') return n < 2 ? null : products / (n - 1);
  const squares = sum(xs.map((value) => (value - meanX) ** 2)) * sum(ys.map((value) => (value - meanY) ** 2));
  return n < 1 || squares === 0 ? null : products / Math.sqrt(squares);
}

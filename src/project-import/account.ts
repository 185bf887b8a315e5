/** Where each leaf of an import went. Every leaf that was read ends in exactly one bucket. */
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

export const BUCKETS = ['same', 'renamed', 'needs-you', 'unsupported', 'ignored'] as const;
export type Bucket = (typeof BUCKETS)[number];

export type LeafPath = readonly (string | number)[];

export interface Leaf {
  readonly path: LeafPath;
  bucket: Bucket;
  /** What it is called now, or says now. */
  to?: string;
  /** What is to be done, or why it is so. */
  note?: string;
}

/** A part of the input that is kept verbatim beside the project. */
export interface Aside {
  readonly file: string;
  readonly path: LeafPath;
  readonly value: Json;
  readonly reason: string;
}

/** What a person has to know that is about no single leaf. */
export interface Remark {
  readonly id: string;
  readonly bucket: 'needs-you' | 'unsupported' | 'ignored' | 'renamed';
  readonly place: string;
  readonly message: string;
}

export function printLeafPath(path: LeafPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

/** Scalars, and collections with nothing in them. */
export function leavesOf(value: Json, path: LeafPath = []): readonly LeafPath[] {
  if (isJsonArray(value) && value.length > 0) return value.flatMap((item, i) => leavesOf(item, [...path, i]));
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
  return [path];
}

/** The books of an import. */
export class Account {
  readonly #leaves = new Map<string, Leaf>();
  readonly asides: Aside[] = [];
  readonly remarks: Remark[] = [];

  /** @throws Error when the leaf has a bucket already: a defect of the import */
  leaf(path: LeafPath, bucket: Bucket, how: { readonly to?: string; readonly note?: string } = {}): void {
    const key = JSON.stringify(path);
    if (this.#leaves.has(key)) throw new Error(`invariant: ${printLeafPath(path)} was accounted for twice`);
    this.#leaves.set(key, { path, bucket, ...how });
  }

  /** All leaves of a part of the input. */
  all(value: Json, path: LeafPath, bucket: Bucket, note: string): void {
    for (const leaf of leavesOf(value, path)) this.leaf(leaf, bucket, { note });
  }

  /** Keeps a part verbatim. */
  aside(file: string, path: LeafPath, value: Json, reason: string): void {
    this.asides.push({ file, path, value, reason });
    this.all(value, path, 'unsupported', reason);
  }

  /** The same for a part that had its buckets already. */
  takeBack(file: string, path: LeafPath, value: Json, reason: string): void {
    this.asides.push({ file, path, value, reason });
    this.#move(value, path, 'unsupported', reason);
  }

  /** Of a part that had its buckets already: it means nothing. */
  takeBackEmpty(value: Json, path: LeafPath, reason: string): void {
    this.#move(value, path, 'ignored', reason);
  }

  #move(value: Json, path: LeafPath, bucket: Bucket, reason: string): void {
    for (const leaf of leavesOf(value, path)) {
      const known = this.#leaves.get(JSON.stringify(leaf));
      if (known === undefined) continue;
      known.bucket = bucket;
      known.note = reason;
      delete known.to;
    }
  }

  remark(remark: Remark): void {
    this.remarks.push(remark);
  }

  get leaves(): readonly Leaf[] {
    return [...this.#leaves.values()];
  }
}

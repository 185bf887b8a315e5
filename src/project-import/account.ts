/** Account of an import: every leaf of the input ends in exactly one bucket. */
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

export const BUCKETS = ['same', 'renamed', 'needs-you', 'unsupported', 'ignored'] as const;
export type Bucket = (typeof BUCKETS)[number];

export type LeafPath = readonly (string | number)[];

export interface Leaf {
  readonly path: LeafPath;
  bucket: Bucket;
  /** New name or value. */
  to?: string;
  /** Required action, or the reason. */
  note?: string;
}

/** Part of the input that is stored verbatim beside the project. */
export interface PartSetAside {
  readonly file: string;
  readonly path: LeafPath;
  readonly value: Json;
  readonly reason: string;
}

/** Remark that concerns no single leaf. */
export interface Remark {
  readonly id: string;
  readonly bucket: 'needs-you' | 'unsupported' | 'ignored' | 'renamed';
  readonly place: string;
  readonly message: string;
}

export function printLeafPath(path: LeafPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

/** Returns the paths of scalars and empty collections. */
export function leavesOf(value: Json, path: LeafPath = []): readonly LeafPath[] {
  if (isJsonArray(value) && value.length > 0) return value.flatMap((item, i) => leavesOf(item, [...path, i]));
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
  return [path];
}

/** Collects the bucket of every leaf, and remarks. */
export class ImportAccount {
  readonly #leaves = new Map<string, Leaf>();
  readonly partsSetAside: PartSetAside[] = [];
  readonly remarks: Remark[] = [];

  /** @throws Error if the leaf already has a bucket, which is a defect of the import */
  addLeaf(path: LeafPath, bucket: Bucket, details: { readonly to?: string; readonly note?: string } = {}): void {
    const key = JSON.stringify(path);
    if (this.#leaves.has(key)) throw new Error(`invariant: ${printLeafPath(path)} was accounted for twice`);
    this.#leaves.set(key, { path, bucket, ...details });
  }

  /** Enters all leaves of a part of the input. */
  addLeaves(value: Json, path: LeafPath, bucket: Bucket, note: string): void {
    for (const leaf of leavesOf(value, path)) this.addLeaf(leaf, bucket, { note });
  }

  /** Stores a part verbatim, as unsupported. */
  setAside(file: string, path: LeafPath, value: Json, reason: string): void {
    this.partsSetAside.push({ file, path, value, reason });
    this.addLeaves(value, path, 'unsupported', reason);
  }

  /** Stores a part verbatim whose leaves already have buckets. */
  moveAside(file: string, path: LeafPath, value: Json, reason: string): void {
    this.partsSetAside.push({ file, path, value, reason });
    this.#move(value, path, 'unsupported', reason);
  }

  /** Marks a part whose leaves already have buckets as meaningless. */
  moveToIgnored(value: Json, path: LeafPath, reason: string): void {
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

  addRemark(remark: Remark): void {
    this.remarks.push(remark);
  }

  get leaves(): readonly Leaf[] {
    return [...this.#leaves.values()];
  }
}

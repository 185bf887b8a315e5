/** Limits of what is read from the files of a project, which may be hostile. */
import type { Json } from '../../util/json.ts';
import { type FilePlace, ProjectFailure } from '../failure.ts';

/** Maximum size of a YAML file, and of a file that is included as text, in bytes. */
export const MAX_INCLUDED_BYTES = 16 * 1024 * 1024;
/** Maximum size of a JSON file, and of all files of the metadata together, in bytes. */
export const MAX_METADATA_BYTES = 64 * 1024 * 1024;
/** Maximum depth of values, over included files. */
export const MAX_DEPTH = 200;
/** Maximum depth of includes. */
const MAX_INCLUDE_DEPTH = 50;
/** Maximum number of includes. A file counts as often as it is included. */
const MAX_INCLUDES = 100_000;
/** Maximum number of values. */
const MAX_VALUES = 2_000_000;

/** Returns a size for messages. */
export function inMebibytes(bytes: number): string {
  return `${bytes / 2 ** 20} MiB`;
}

/** A limit was exceeded, so that reading ends at once. */
export class TooLarge extends ProjectFailure {
  constructor(message: string, place: FilePlace) {
    super([{ code: 'too-large', message, ...place }]);
  }
}

/** Counts what the files expand to. */
export class ReadBudget {
  #includes = 0;
  #values = 0;
  #bytes = 0;

  /** @throws TooLarge */
  include(depth: number, place: FilePlace): void {
    this.#includes += 1;
    if (depth > MAX_INCLUDE_DEPTH) throw new TooLarge(`includes are nested deeper than ${MAX_INCLUDE_DEPTH}`, place);
    if (this.#includes > MAX_INCLUDES) throw new TooLarge(`the files have more than ${MAX_INCLUDES} includes${COUNTED}`, place);
  }

  /** @param value a text, or else something of no length @throws TooLarge */
  value(value: Json | undefined, place: () => FilePlace): void {
    this.#values += 1;
    if (typeof value === 'string') this.#bytes += Buffer.byteLength(value);
    if (this.#values > MAX_VALUES) throw new TooLarge(`the files have more than ${MAX_VALUES} values${COUNTED}`, place());
    if (this.#bytes > MAX_METADATA_BYTES)
      throw new TooLarge(`the texts of the files have more than ${inMebibytes(MAX_METADATA_BYTES)}${COUNTED}`, place());
  }
}

const COUNTED = '; a file counts as often as it is included';

/** Compresses responses, in the thread pool instead of the event loop. */
import { promisify } from 'node:util';
import type { Transform } from 'node:stream';
import { type BrotliOptions, brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { bufferOfBytes, type Body } from '../util/bytes.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { preferences } from './accept.ts';

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);
/** Minimum size of a body to be compressed: shorter ones do not shrink. */
const MIN_BYTES = 700;
/** Maximum size of a small body. */
const SMALL_BYTES = 20_000;
const MAX_WINDOW = 20;

export type Encoding = 'br' | 'gzip';

export interface EncodingChoice {
  /** `null` if the body is sent uncompressed. */
  readonly encoding: Encoding | null;
  /** True if the client rejects uncompressed bodies. */
  readonly always: boolean;
}

/** Cache: clients send the same few headers. */
const choices = new BoundedCache<string, EncodingChoice>({ entries: 100 });
const MAX_CACHED_LENGTH = 200;

const PLAIN: EncodingChoice = { encoding: null, always: false };

/**
 * Chooses the encoding for an `Accept-Encoding` header (RFC 9110, section 12.5.3) by its weights. Equal weights select Brotli, which is
 * faster and smaller than gzip at the qualities used here.
 */
export function chooseEncoding(header: string | string[] | undefined): EncodingChoice {
  if (header === undefined) return PLAIN;
  const text = Array.isArray(header) ? header.join() : header;
  let choice = choices.get(text);
  if (choice === undefined) {
    choice = choose(text);
    if (text.length <= MAX_CACHED_LENGTH) choices.set(text, choice);
  }
  return choice;
}

function choose(header: string): EncodingChoice {
  const weights = new Map(preferences(header).map(({ name, weight }) => [name, weight]));
  const any = weights.get('*');
  const br = weights.get('br') ?? any ?? 0;
  const gzipped = weights.get('gzip') ?? weights.get('x-gzip') ?? any ?? 0;
  if (br === 0 && gzipped === 0) return PLAIN;
  // If `identity` is not listed, it is acceptable, but ranks below the listed encodings.
  const identity = weights.get('identity') ?? (any === 0 ? 0 : null);
  if (identity !== null && identity > Math.max(br, gzipped)) return PLAIN;
  return { encoding: br >= gzipped ? 'br' : 'gzip', always: identity === 0 };
}

/** Returns true if a body of this size should be compressed. */
export function isWorthIt(size: number, { encoding, always }: EncodingChoice): boolean {
  return encoding !== null && (always || size >= MIN_BYTES);
}

const LEVELS = { small: { gzip: 1, br: 3 }, large: { gzip: 6, br: 2 } } as const;

function brotliOptions(size: number): BrotliOptions {
  return {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: LEVELS[size <= SMALL_BYTES ? 'small' : 'large'].br,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
      [constants.BROTLI_PARAM_LGWIN]: Math.min(MAX_WINDOW, Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(size + 1)))),
    },
  };
}

/** Returns a compressing stream, for bodies that are printed while they are sent. */
export function compressor(size: number, encoding: Encoding): Transform {
  return encoding === 'gzip' ? createGzip({ level: LEVELS.large.gzip }) : createBrotliCompress(brotliOptions(size));
}

/** Compresses a body: fast if it is large, well if it is small. */
export async function compress(body: Body, size: number, encoding: Encoding): Promise<Buffer> {
  const whole = bufferOfBytes(body);
  if (encoding === 'gzip') return gzipAsync(whole, { level: LEVELS[size <= SMALL_BYTES ? 'small' : 'large'].gzip });
  return brotliAsync(whole, brotliOptions(size));
}

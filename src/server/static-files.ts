/** Static files in memory, those of the console and of the documentation: each folder is read once. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { describeFailure } from '../errors/describe-failure.ts';
import { type Bytes, bytesOfBuffer, bytesOfText } from '../util/bytes.ts';
import type { Encoding } from './compression.ts';

export interface StaticFile {
  readonly contentType: string;
  readonly plain: Bytes;
  /** Copies that the build has compressed; without them, the response is compressed like any other. */
  readonly compressed: Partial<Record<Encoding, Bytes>>;
  /** True if the file name contains a hash of the content. */
  readonly isImmutable: boolean;
  readonly etag: string;
}

/** Files by path, such as `index.html`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/** State of a folder of static files. `reason` says why it is missing although it is enabled. */
export type StaticState =
  | { readonly kind: 'off' }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'served'; readonly files: StaticFiles };

/** A folder cannot be served; the message is for users. */
export class FilesMissing extends Error {}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};
const ENCODINGS = { '.br': 'br', '.gz': 'gzip' } as const;
/** Limits for a folder: a larger one is some other folder. */
const MAX_FILES = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
const INDEX = 'index.html';
/** E.g. `assets/home-B2x9_0aZ.js`. */
const NAMED_BY_CONTENT = /^assets\/.+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

/**
 * Reads a folder.
 * @param edit changes the text of its index.html
 * @throws FilesMissing if the folder is missing, too large, or has no index.html
 */
export async function readStaticFiles(folder: string, edit?: (html: string) => string): Promise<StaticFiles> {
  const read = await readFolder(folder);
  if (!read.has(INDEX)) throw new FilesMissing(`the folder ${folder} has no ${INDEX}`);
  const files = new Map<string, StaticFile>();
  for (const [path, content] of read) {
    const contentType = CONTENT_TYPES[extname(path)];
    if (contentType === undefined) continue;
    const isEdited = edit !== undefined && path === INDEX;
    const plain = isEdited ? bytesOfText(edit(content.toString())) : bytesOfBuffer(content, 0, content.length);
    const compressed = isEdited ? {} : compressedOf(path, read);
    files.set(path, { contentType, plain, compressed, isImmutable: NAMED_BY_CONTENT.test(path), etag: etagOf(plain) });
  }
  return files;
}

function compressedOf(path: string, read: ReadonlyMap<string, Buffer>): StaticFile['compressed'] {
  return Object.fromEntries(
    Object.entries(ENCODINGS).flatMap(([suffix, encoding]) => {
      const sibling = read.get(path + suffix);
      return sibling === undefined ? [] : [[encoding, bytesOfBuffer(sibling, 0, sibling.length)]];
    }),
  );
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  try {
    const entries = (await readdir(folder, { withFileTypes: true, recursive: true })).filter((entry) => entry.isFile());
    if (entries.length > MAX_FILES) throw new FilesMissing(`the folder ${folder} has more than ${MAX_FILES} files`);
    const paths = entries.map((entry) => join(entry.parentPath, entry.name));
    const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
    if (sizes.reduce((sum, size) => sum + size, 0) > MAX_BYTES) {
      throw new FilesMissing(`the folder ${folder} has more than ${MAX_BYTES / 2 ** 20} MiB`);
    }
    return new Map(
      await Promise.all(
        paths.map(async (path): Promise<[string, Buffer]> => [relative(folder, path).split(sep).join('/'), await readFile(path)]),
      ),
    );
  } catch (thrown) {
    if (thrown instanceof FilesMissing) throw thrown;
    throw new FilesMissing(`the folder ${folder} cannot be read: ${describeFailure(thrown)}`);
  }
}

function etagOf(content: Bytes): string {
  // Weak, because it is the same for every encoding.
  return `W/"${createHash('sha256').update(content, 'latin1').digest('base64url').slice(0, 22)}"`;
}

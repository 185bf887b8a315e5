/** The built console in memory: read once at the start, so that no request accesses the file system. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { describeFailure } from '../errors/describe-failure.ts';
import { type Bytes, bytesOfBuffer, bytesOfText } from '../util/bytes.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import type { Encoding } from './compression.ts';
import { escaped } from './page.ts';

export interface ConsoleFile {
  readonly contentType: string;
  readonly plain: Bytes;
  /** Copies that the build has compressed; without them, the response is compressed like any other. */
  readonly compressed: Partial<Record<Encoding, Bytes>>;
  /** True if the file name contains a hash of the content. */
  readonly isImmutable: boolean;
  readonly etag: string;
}

/** Files by path below `/console/`; the page itself has the empty path. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** The console cannot be served; the message is for its users. */
export class ConsoleMissing extends Error {}

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
/** Limits for a console folder: a larger one is some other folder. */
const MAX_FILES = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
/** E.g. `assets/home-B2x9_0aZ.js`. */
const NAMED_BY_CONTENT = /^assets\/.+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

/**
 * Reads a built console.
 * @param settings for the page before sign-in; written into it as `<meta name="svc-console">`
 * @throws ConsoleMissing if the folder is missing or is not a console
 */
export async function readConsole(folder: string, settings: JsonObject): Promise<ConsoleFiles> {
  const read = await readFolder(folder);
  const files = new Map<string, ConsoleFile>();
  for (const [path, content] of read) {
    const contentType = CONTENT_TYPES[extname(path)];
    if (contentType === undefined || path === 'index.html') continue;
    const compressed: ConsoleFile['compressed'] = Object.fromEntries(
      Object.entries(ENCODINGS).flatMap(([suffix, encoding]) => {
        const sibling = read.get(path + suffix);
        return sibling === undefined ? [] : [[encoding, bytesOfBuffer(sibling, 0, sibling.length)]];
      }),
    );
    const plain = bytesOfBuffer(content, 0, content.length);
    files.set(path, { contentType, plain, compressed, isImmutable: NAMED_BY_CONTENT.test(path), etag: etagOf(plain) });
  }
  const index = read.get('index.html');
  if (index === undefined) throw new ConsoleMissing(`the folder ${folder} has no index.html`);
  const plain = bytesOfText(withSettings(index.toString(), settings));
  files.set('', { contentType: CONTENT_TYPES['.html'] as string, plain, compressed: {}, isImmutable: false, etag: etagOf(plain) });
  return files;
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  try {
    const entries = (await readdir(folder, { withFileTypes: true, recursive: true })).filter((entry) => entry.isFile());
    if (entries.length > MAX_FILES) throw new ConsoleMissing(`the folder ${folder} has more than ${MAX_FILES} files`);
    const paths = entries.map((entry) => join(entry.parentPath, entry.name));
    const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
    if (sizes.reduce((sum, size) => sum + size, 0) > MAX_BYTES) {
      throw new ConsoleMissing(`the folder ${folder} has more than ${MAX_BYTES / 2 ** 20} MiB`);
    }
    return new Map(
      await Promise.all(
        paths.map(async (path): Promise<[string, Buffer]> => [relative(folder, path).split(sep).join('/'), await readFile(path)]),
      ),
    );
  } catch (thrown) {
    if (thrown instanceof ConsoleMissing) throw thrown;
    throw new ConsoleMissing(`the folder ${folder} cannot be read: ${describeFailure(thrown)}`);
  }
}

function etagOf(content: Bytes): string {
  // Weak, because it is the same for every encoding.
  return `W/"${createHash('sha256').update(content, 'latin1').digest('base64url').slice(0, 22)}"`;
}

const SETTINGS = /<meta name="svc-console"[^>]*>\s*/;

function withSettings(html: string, settings: JsonObject): string {
  const meta = `<meta name="svc-console" content="${escaped(printJson(settings))}">`;
  return html.replace(SETTINGS, '').replace(/<head[^>]*>/i, (head) => `${head}\n${meta}`);
}

// Folders below dist/ that have a build of their own, with a stamp of what they were built from.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { root } from './ensure-packages.mjs';

const dist = join(root, 'dist');

/**
 * Builds dist/NAME if its sources have changed. A failed build keeps the last good one.
 * @param sources files and folders
 * @param buildInto fills an empty folder
 */
export async function updateFolder({ name, title, sources, force = false }, buildInto) {
  const target = join(dist, name);
  // Outside of the folder, which contains only files that are served.
  const record = join(dist, stampOf(name));
  const stamp = fingerprint([...sources, import.meta.filename]);
  if (!force && existsSync(target) && existsSync(record) && readFileSync(record, 'utf8') === stamp) return;
  console.error(`building ${title} ...`);
  mkdirSync(dist, { recursive: true });
  const draft = mkdtempSync(join(root, 'dist.new-'));
  try {
    await buildInto(draft);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
    writeFileSync(record, stamp);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

export const stampOf = (name) => `.${name}-built-from`;

function fingerprint(sources) {
  const hash = createHash('sha256');
  const files = sources.flatMap((source) => (statSync(source).isDirectory() ? filesOf(source) : [source]));
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

export function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const COMPRESSED_ALREADY = /\.(?:png|webp|woff2)$/;

/**
 * Writes FILE.br and FILE.gz for each file.
 * @param quality of brotli; the highest takes ten times as long as the next
 */
export function compressFolder(folder, quality = constants.BROTLI_MAX_QUALITY) {
  for (const file of filesOf(folder)) {
    if (COMPRESSED_ALREADY.test(file)) continue;
    const bytes = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

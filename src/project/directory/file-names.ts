import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import type { Files } from './files.ts';

/** Names that every file system accepts. */
const SAFE = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u;
const MAX_LENGTH = 180;

/** Chooses file names for new objects: `<schema>_<table>.yaml` if that is unique and safe. */
export class FileNames {
  readonly #files: Files;
  readonly #taken = new Map<string, Set<string>>();

  constructor(files: Files) {
    this.#files = files;
  }

  /** Returns the folder of a source. */
  folder(parent: string, name: string): string {
    return join(parent, safe(name, `folder ${name}`, false));
  }

  /** Returns a free file for a table or function. */
  file(folder: string, name: Json): string {
    const text = partsOf(name).join('_');
    const taken = this.#takenIn(folder);
    const plain = safe(text, JSON.stringify(name), false);
    let chosen = taken.has(`${plain}.yaml`.toLowerCase()) ? safe(text, JSON.stringify(name), true) : plain;
    for (let count = 2; taken.has(`${chosen}.yaml`.toLowerCase()); count++) chosen = safe(text, `${count} ${JSON.stringify(name)}`, true);
    taken.add(`${chosen}.yaml`.toLowerCase());
    return join(folder, `${chosen}.yaml`);
  }

  #takenIn(folder: string): Set<string> {
    let taken = this.#taken.get(folder);
    if (taken === undefined) {
      const here = this.#files.list(folder).filter((path) => dirname(path) === folder);
      taken = new Set(here.map((path) => path.slice(folder.length + 1).toLowerCase()));
      this.#taken.set(folder, taken);
    }
    return taken;
  }
}

function partsOf(name: Json): readonly string[] {
  if (typeof name === 'string') return ['public', name];
  if (isJsonArray(name)) return name.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  if (!isJsonObject(name)) return [JSON.stringify(name)];
  // Tables in the connected database of a MariaDB source have no schema.
  const schema = name['schema'] ?? name['dataset'];
  return [...(schema === undefined ? [] : [schema]), name['name']].map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
}

/** @param full text that differs for different objects */
function safe(text: string, full: string, hashed: boolean): string {
  const isSafe = SAFE.test(text) && !/[. ]$/.test(text) && text.length <= MAX_LENGTH;
  if (isSafe && !hashed) return text;
  const hash = createHash('sha256').update(full).digest('hex').slice(0, 8);
  const encoded = text.replace(/[^\p{L}\p{N}_. -]|^[. ]|[. ]$/gu, (odd) =>
    encodeURIComponent(odd).replace(/[.\s!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`),
  );
  return `${encoded.slice(0, MAX_LENGTH)}-${hash}`;
}

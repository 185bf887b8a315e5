import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import type { Files } from './files.ts';

/** Names that every file system takes, and that stay in their folder. */
const SAFE = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u;
const LONGEST = 180;

/** Gives files of new objects their names: `<schema>_<table>.yaml` where that is unique and safe. */
export class FileNames {
  readonly #files: Files;
  readonly #taken = new Map<string, Set<string>>();

  constructor(files: Files) {
    this.#files = files;
  }

  /** Below `parent`, for a source of this name. */
  folder(parent: string, name: string): string {
    return join(parent, safe(name, `folder ${name}`, false));
  }

  /** For a table or function of this name. */
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
  // Tables of the database that a MariaDB source is connected to have no schema.
  const schema = name['schema'] ?? name['dataset'];
  return [...(schema === undefined ? [] : [schema]), name['name']].map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
}

/** @param full what tells it from others of the same text */
function safe(text: string, full: string, hashed: boolean): string {
  const isSafe = SAFE.test(text) && !/[. ]$/.test(text) && text.length <= LONGEST;
  if (isSafe && !hashed) return text;
  const hash = createHash('sha256').update(full).digest('hex').slice(0, 8);
  const encoded = text.replace(/[^\p{L}\p{N}_. -]|^[. ]|[. ]$/gu, (odd) =>
    encodeURIComponent(odd).replace(/[.\s!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`),
  );
  return `${encoded.slice(0, LONGEST)}-${hash}`;
}

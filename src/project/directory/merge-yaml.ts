/** Merges new values into YAML documents, and preserves comments, order, quotes and includes. Items of lists are matched by identity. */
import { dirname, join } from 'node:path';
import { Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonArray, isJsonObject, type Json, jsonEqual, type JsonObject } from '../../util/json.ts';
import { attachAcceptances } from './accept-comment.ts';
import type { Files } from './files.ts';
import { FileNames } from './file-names.ts';
import type { MetadataReader } from './read-metadata.ts';
import { identityOf, isOrderless, sameMeaning } from './sections.ts';
import { createMember, createNode, includedPath, isMergeKey, keyText, newYamlFile, type YamlFile } from './yaml-file.ts';

export class YamlMerge {
  readonly #files: Files;
  readonly #reader: MetadataReader;
  readonly #names: FileNames;
  /** New values of included files, because several places may include one file. */
  readonly #included = new Map<string, Json>();
  readonly changed = new Map<string, YamlFile>();
  readonly texts = new Map<string, string>();

  constructor(files: Files, reader: MetadataReader) {
    this.#files = files;
    this.#reader = reader;
    this.#names = new FileNames(files);
  }

  /** Sets the content of a file, which may not exist. */
  setFile(path: string, value: Json, member?: string): void {
    const text = this.#files.read(path);
    if (text === undefined) {
      const file = this.#newFile(path, isJsonArray(value) ? [] : isJsonObject(value) ? {} : null);
      file.document.contents = this.#merge(file, file.document.contents, value, member) as typeof file.document.contents;
      return;
    }
    this.#mergeFile(this.#reader.yaml(path, text), value, member);
  }

  #newFile(path: string, content: Json): YamlFile {
    const file = newYamlFile(path, this.#files.show(path), content);
    this.#reader.files.set(path, file);
    this.changed.set(path, file);
    return file;
  }

  #mergeFile(file: YamlFile, value: Json, member: string | undefined): void {
    const { document } = file;
    const before = document.contents;
    const after = this.#merge(file, before, value, member);
    if (after !== before) {
      document.contents = after as typeof document.contents;
      this.changed.set(file.path, file);
    }
  }

  #same(file: YamlFile, node: Node | null, value: Json, member: string | undefined): boolean {
    return sameMeaning(this.#reader.valueOf(file, node, member), value, member);
  }

  /** Returns a node with the value: the same one if it is equal, or can be changed in place. */
  #merge(file: YamlFile, node: Node | null, value: Json, member: string | undefined): Node | null {
    if (node !== null && this.#same(file, node, value, member)) return node;
    const included = includedPath(node);
    if (included !== undefined) return this.#mergeIncluded(file, node as Node, included, value, member);
    if (isMap(node) && isJsonObject(value) && !node.items.some((pair) => isMergeKey(pair as Pair))) {
      this.#mergeMap(file, node, value);
      this.changed.set(file.path, file);
      return node;
    }
    if (isSeq(node) && isJsonArray(value)) {
      this.changed.set(file.path, file);
      return this.#mergeList(file, node, value, member);
    }
    this.changed.set(file.path, file);
    if (
      isScalar(node) &&
      typeof node.value === 'string' &&
      typeof value === 'string' &&
      !value.includes('\n') &&
      !node.value.includes('\n')
    ) {
      node.value = value;
      delete node.source;
      return node;
    }
    const made = this.#create(file, value, member);
    if (node !== null && !isAlias(node) && made !== null) {
      if (node.comment != null) made.comment = node.comment;
      if (node.commentBefore != null) made.commentBefore = node.commentBefore;
    }
    return made;
  }

  #mergeIncluded(file: YamlFile, node: Node, named: string, value: Json, member: string | undefined): Node {
    const path = join(dirname(file.path), named.replace(/^[/\\]+/, ''));
    const other = this.#included.get(path);
    const inline = (): Node => {
      this.changed.set(file.path, file);
      return this.#create(file, value, member);
    };
    if (other !== undefined && !sameMeaning(other, value, member)) return inline();
    this.#included.set(path, value);
    if (!/\.ya?ml$/i.test(path)) {
      if (typeof value !== 'string') return inline();
      this.texts.set(path, value);
      return node;
    }
    const known = this.#reader.files.get(path);
    if (known === undefined || typeof known === 'string') return inline();
    this.#mergeFile(known, value, member);
    return node;
  }

  #mergeMap(file: YamlFile, node: YAMLMap, value: JsonObject): void {
    if (node.items.length === 0) node.flow = false;
    attachAcceptances(node);
    node.items = node.items.filter((pair) => Object.hasOwn(value, keyText(pair as Pair)));
    let at = 0;
    for (const [key, item] of Object.entries(value)) {
      const found = node.items.findIndex((pair) => keyText(pair as Pair) === key);
      if (found >= 0) {
        const pair = node.items[found] as Pair<Node, Node | null>;
        pair.value = this.#merge(file, pair.value ?? null, item, key);
        at = found + 1;
      } else {
        const pair = createMember(file, key);
        pair.value = this.#create(file, item, key);
        node.items.splice(at, 0, pair);
        at += 1;
      }
    }
  }

  #mergeList(file: YamlFile, node: YAMLSeq, value: readonly Json[], member: string | undefined): Node {
    if (node.items.length === 0 && value.length > 0) node.flow = false;
    attachAcceptances(node);
    const items = node.items as Node[];
    const old = items.map((item) => this.#reader.valueOf(file, item, undefined));
    const splices = items.some((item, i) => includedPath(item) !== undefined && isJsonArray(old[i]));
    const identities = old.map(identityOf);
    const newIdentities = value.map(identityOf);
    const isUnique = (list: readonly (string | undefined)[]): boolean => new Set(list).size === list.length && !list.includes(undefined);
    if (splices) return this.#mergeSpliced(file, node, value, member);
    if (!isUnique(identities) || !isUnique(newIdentities)) {
      const places = placesOf(value, newIdentities, old, identities);
      node.items = value.map((item, i) => {
        const place = places[i];
        return place === undefined ? this.#createItem(file, node, item, member) : this.#merge(file, items[place] as Node, item, undefined);
      });
      return node;
    }
    const merged = new Map<string, Node | null>();
    value.forEach((item, i) => {
      const identity = newIdentities[i] as string;
      const before = identities.indexOf(identity);
      merged.set(
        identity,
        before < 0 ? this.#createItem(file, node, item, member) : this.#merge(file, items[before] as Node, item, undefined),
      );
    });
    const order = orderOf(identities as string[], newIdentities as string[], isOrderless(member));
    node.items = order.map((identity) => merged.get(identity) as Node);
    return node;
  }

  /** Merges a list with spliced includes: the items of each include stay in its file. */
  #mergeSpliced(file: YamlFile, node: YAMLSeq, value: readonly Json[], member: string | undefined): Node {
    const left = new Map(value.map((item, i) => [identityOf(item) ?? `#${i}`, item]));
    const slots = (node.items as Node[]).map((item) => ({ item, before: this.#reader.valueOf(file, item, undefined) }));
    const kept: (Node | null)[] = [];
    for (const { item, before } of slots) {
      const inside = includedPath(item);
      if (inside !== undefined && isJsonArray(before)) {
        const own = before.flatMap((each) => take(left, identityOf(each)));
        kept.push(this.#mergeIncluded(file, item, inside, own, member));
      } else for (const own of take(left, identityOf(before))) kept.push(this.#merge(file, item, own, undefined));
    }
    for (const item of left.values()) kept.push(this.#createItem(file, node, item, member));
    node.items = kept;
    return node;
  }

  /** Creates a node for a new value, with new files for sources, tables and functions. */
  #create(file: YamlFile, value: Json, member: string | undefined): Node {
    if (member === 'sources' && isJsonArray(value)) {
      const list = createNode(file, []) as YAMLSeq;
      list.flow = false;
      list.items = value.map((item) => this.#createItem(file, list, item, member));
      return list;
    }
    return createNode(file, sorted(value, member), member);
  }

  #createItem(file: YamlFile, list: YAMLSeq, value: Json, member: string | undefined): Node {
    if (member === 'sources' && isJsonObject(value)) return this.#createSource(file, value);
    const isTracked = member === 'tables' || member === 'functions';
    const inFiles = list === file.document.contents || (list.items as Node[]).some((item) => includedPath(item) !== undefined);
    if (isTracked && inFiles && isJsonObject(value) && (value['table'] ?? value['function'] ?? null) !== null)
      return this.#createInFile(file, value);
    return this.#create(file, value, undefined);
  }

  #createSource(file: YamlFile, source: JsonObject): Node {
    const folder = this.#names.folder(dirname(file.path), String(source['name']));
    const node = file.document.createNode({}) as YAMLMap;
    node.flow = false;
    for (const [key, value] of Object.entries(source)) {
      const pair = createMember(file, key);
      if ((key === 'tables' || key === 'functions') && isJsonArray(value)) {
        const path = join(folder, key, `${key}.yaml`);
        const list = this.#newFile(path, []);
        const items = list.document.contents as unknown as YAMLSeq;
        items.flow = value.length === 0;
        for (const item of value) items.items.push(this.#createItem(list, items, item, key));
        pair.value = includeNode(file, path);
      } else pair.value = this.#create(file, value, key);
      node.items.push(pair);
    }
    return node;
  }

  #createInFile(list: YamlFile, value: JsonObject): Node {
    const path = this.#names.file(dirname(list.path), value['table'] ?? value['function'] ?? null);
    const file = this.#newFile(path, {});
    file.document.contents = this.#create(file, value, undefined) as typeof file.document.contents;
    return includeNode(list, path);
  }
}

function take(left: Map<string, Json>, identity: string | undefined): readonly Json[] {
  const found = identity === undefined ? undefined : left.get(identity);
  if (found === undefined || identity === undefined) return [];
  left.delete(identity);
  return [found];
}

/**
 * Returns the index of the old item for each new item: an equal one, or else the next with the same identity. An item without an identity
 * takes the next old item without one.
 */
function placesOf(
  value: readonly Json[],
  newIdentities: readonly (string | undefined)[],
  old: readonly Json[],
  identities: readonly (string | undefined)[],
): readonly (number | undefined)[] {
  const used = new Set<number>();
  const places: (number | undefined)[] = value.map(() => undefined);
  const match = (isSame: (i: number, place: number) => boolean): void => {
    for (const i of value.keys()) {
      if (places[i] !== undefined) continue;
      const place = old.findIndex((_, at) => !used.has(at) && identities[at] === newIdentities[i] && isSame(i, at));
      if (place < 0) continue;
      used.add(place);
      places[i] = place;
    }
  };
  match((i, at) => jsonEqual(value[i] as Json, old[at] as Json));
  match(() => true);
  return places;
}

/** Returns the order of the items. In an unordered list, old items keep their order, and each new item follows its predecessor. */
function orderOf(before: readonly string[], after: readonly string[], orderless: boolean): readonly string[] {
  if (!orderless) return after;
  const order = before.filter((identity) => after.includes(identity));
  const ordered = new Set(order);
  after.forEach((identity, i) => {
    if (ordered.has(identity)) return;
    const previous = after.slice(0, i).findLast((each) => ordered.has(each));
    order.splice(previous === undefined ? order.length : order.indexOf(previous) + 1, 0, identity);
    ordered.add(identity);
  });
  return order;
}

/** Sorts unordered lists of texts at any depth. */
function sorted(value: Json, member: string | undefined): Json {
  if (isJsonArray(value)) {
    const items = value.map((item) => sorted(item, undefined));
    return isOrderless(member) && items.every((item) => typeof item === 'string') ? (items as string[]).sort() : items;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, sorted(item, key)]));
}

function includeNode(from: YamlFile, path: string): Node {
  const relative = path.slice(dirname(from.path).length + 1);
  return new Document(`!include ${relative}`).contents as Node;
}

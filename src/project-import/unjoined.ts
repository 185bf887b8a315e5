/** Parts of actions.yaml that the document lacks, because actions.graphql contradicts or omits them. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf } from '../util/json.ts';
import { sameMeaning } from '../project/directory/sections.ts';
import type { LeafPath } from './account.ts';

export interface Unjoined {
  /** Path in actions.yaml. */
  readonly path: LeafPath;
  readonly value: Json;
  /** `ignored` if the other file contains it. */
  readonly bucket: 'ignored' | 'unsupported';
  readonly reason: string;
}

/** Members that identify the items of a list. */
const NAMES = ['name', 'value', 'role'] as const;

/**
 * @param yaml content of actions.yaml
 * @param joined `actions` and `custom_types` of both files
 */
export function unjoined(yaml: Json, joined: JsonObject): readonly Unjoined[] {
  if (yaml === null) return [];
  if (isJsonObject(yaml)) return compare(yaml, joinedFor(yaml, joined), []);
  return [{ path: [], value: yaml, bucket: 'unsupported', reason: 'the file must be an object with actions and custom_types' }];
}

function compare(value: Json, other: Json | undefined, path: LeafPath): readonly Unjoined[] {
  const asWhole = (bucket: Unjoined['bucket'], reason: string): readonly Unjoined[] => [{ path, value, bucket, reason }];
  if (other === undefined && (value === null || (isJsonArray(value) && value.length === 0))) return asWhole('ignored', 'is empty');
  if (isJsonArray(value) && isJsonArray(other) && value.length > 0) return compareLists(value, other, path);
  if (isJsonObject(value) && isJsonObject(other) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, item]) => compare(item, other[key], [...path, key]));
  if (other !== undefined && sameMeaning(value, other)) return [];
  if (path.at(-1) === 'kind' && path.at(-2) === 'definition')
    return asWhole('ignored', other === undefined ? 'queries are always synchronous' : `replaced by ${String(other)}`);
  return other !== undefined && path.length > 1
    ? asWhole('ignored', 'actions.graphql defines it')
    : asWhole('unsupported', 'does not belong in this file');
}

function compareLists(list: readonly Json[], others: readonly Json[], path: LeafPath): readonly Unjoined[] {
  const remaining = [...others];
  const isNamedList = path.length === 1 || (path[0] === 'custom_types' && path.length === 2);
  return list.flatMap((item, i): readonly Unjoined[] => {
    const at = remaining.findIndex((other) => haveSameName(item, other));
    if (at >= 0) return compare(item, remaining.splice(at, 1)[0], [...path, i]);
    const reason = isNamedList ? absent(item, path) : 'actions.graphql does not have it';
    return [{ path: [...path, i], value: item, bucket: 'unsupported', reason }];
  });
}

/** Returns the joined lists; items without a counterpart are reported one by one. */
function joinedFor(yaml: JsonObject, joined: JsonObject): JsonObject {
  const lists = (object: Json | undefined, known: Json | undefined): JsonObject => ({
    ...Object.fromEntries(
      Object.entries(objectOf(object)).flatMap(([key, item]) => (isJsonArray(item) && item.length > 0 ? [[key, []] as const] : [])),
    ),
    ...objectOf(known),
  });
  return {
    ...(isJsonArray(yaml['actions']) && yaml['actions'].length > 0 ? { actions: joined['actions'] ?? [] } : {}),
    ...(isJsonObject(yaml['custom_types']) ? { custom_types: lists(yaml['custom_types'], joined['custom_types']) } : {}),
  };
}

function absent(item: Json, path: LeafPath): string {
  if (!isJsonObject(item)) return `an entry of ${path.join('.')} must be an object`;
  return path[0] === 'actions' ? 'there is no such action in actions.graphql' : 'there is no such type in actions.graphql';
}

function haveSameName(item: Json, other: Json): boolean {
  if (!isJsonObject(item) || !isJsonObject(other)) return sameMeaning(item, other);
  const key = NAMES.find((name) => item[name] !== undefined);
  return key === undefined ? sameMeaning(item, other) : sameMeaning(item[key] as Json, other[key] ?? null);
}

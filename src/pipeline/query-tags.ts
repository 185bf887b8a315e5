/** Query tags: comments on statements in the three formats that tools read. See docs/adr/0019-query-tags.md. */
import type { QueryTags } from '../backend/query-tags.ts';
import type { QueryTagsFormat, QueryTagsSettings } from '../metadata/query-tags.ts';
import { operationHash } from './operation-hash.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

/** Returns the tags for statements on a source; `undefined` if they have none. */
export type TagsOfSource = (source: string) => QueryTags | undefined;

interface CachedTags {
  /** Sorted by name. */
  readonly tags: ReadonlyMap<string, string>;
  /** Printed tags without a request id. */
  readonly byFormat: Map<QueryTagsFormat, QueryTags>;
}

const cache = new WeakMap<CachedOperation, CachedTags>();

/** @param settings of the sources with query tags */
export function tagsOfRequest(
  settings: ReadonlyMap<string, QueryTagsSettings>,
  operation: CachedOperation,
  { query, operationName }: Pick<GraphqlRequest, 'query' | 'operationName'>,
  requestId: string,
): TagsOfSource {
  return (source) => {
    const sourceSettings = settings.get(source);
    if (sourceSettings === undefined) return undefined;
    let cached = cache.get(operation);
    if (cached === undefined) {
      const { name } = operation.prepared;
      const tags: [string, string][] = [['application', 'svc-graphql']];
      if (name !== null) tags.push(['operation_name', name]);
      tags.push(['parameterized_query_hash', operationHash(query, operationName)]);
      cached = { tags: new Map(tags), byFormat: new Map() };
      cache.set(operation, cached);
    }
    const { format, omitRequestId } = sourceSettings;
    if (!omitRequestId && requestId !== '') return printTags(new Map([...cached.tags, ['request_id', requestId]]), format, true);
    let printed = cached.byFormat.get(format);
    if (printed === undefined) {
      printed = printTags(cached.tags, format, false);
      cached.byFormat.set(format, printed);
    }
    return printed;
  };
}

function printTags(tags: ReadonlyMap<string, string>, format: QueryTagsFormat, isUnique: boolean): QueryTags {
  const pairs = [...tags].map(([name, value]): [string, string] => [name, encoded(value)]);
  if (format === 'sqlcommenter') {
    return { before: '', after: ` /*${pairs.map(([name, value]) => `${name}='${value}'`).join(',')}*/`, labels: tags, isUnique };
  }
  const comment = `/* ${pairs.map(([name, value]) => `${name}=${value}`).join(',')} */`;
  return format === 'standard'
    ? { before: '', after: ` ${comment}`, labels: tags, isUnique }
    : { before: `${comment} `, after: '', labels: tags, isUnique };
}

/** Percent-encodes a value, so that it cannot end the comment or its quotes, or look like a parameter. */
function encoded(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*~]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}

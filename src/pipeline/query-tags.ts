/** Makes the tags of an operation's statements: comments of the three formats that tools read. See docs/adr/0019-query-tags.md. */
import type { QueryTags } from '../backend/query-tags.ts';
import type { QueryTagsFormat, QueryTagsSettings } from '../metadata/query-tags.ts';
import { operationHash } from './operation-hash.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

/** Of a source; undefined: its statements have none. */
export type TagsOfSource = (source: string) => QueryTags | undefined;

interface Known {
  /** In the order of their names. */
  readonly tags: ReadonlyMap<string, string>;
  /** Those without the id of a request. */
  readonly byFormat: Map<QueryTagsFormat, QueryTags>;
}

/** Made once for each operation that is kept. */
const known = new WeakMap<CachedOperation, Known>();

/** @param settings of the sources that want tags */
export function tagsOfRequest(
  settings: ReadonlyMap<string, QueryTagsSettings>,
  operation: CachedOperation,
  { query, operationName }: Pick<GraphqlRequest, 'query' | 'operationName'>,
  requestId: string,
): TagsOfSource {
  return (source) => {
    const wanted = settings.get(source);
    if (wanted === undefined) return undefined;
    let found = known.get(operation);
    if (found === undefined) {
      const { name } = operation.prepared;
      const tags: [string, string][] = [['application', 'svc-graphql']];
      if (name !== null) tags.push(['operation_name', name]);
      tags.push(['parameterized_query_hash', operationHash(query, operationName)]);
      found = { tags: new Map(tags), byFormat: new Map() };
      known.set(operation, found);
    }
    const { format, omitRequestId } = wanted;
    if (!omitRequestId && requestId !== '') return written(new Map([...found.tags, ['request_id', requestId]]), format, true);
    let made = found.byFormat.get(format);
    if (made === undefined) {
      made = written(found.tags, format, false);
      found.byFormat.set(format, made);
    }
    return made;
  };
}

function written(tags: ReadonlyMap<string, string>, format: QueryTagsFormat, isUnique: boolean): QueryTags {
  const pairs = [...tags].map(([name, value]): [string, string] => [name, encoded(value)]);
  if (format === 'sqlcommenter') {
    return { before: '', after: ` /*${pairs.map(([name, value]) => `${name}='${value}'`).join(',')}*/`, labels: tags, isUnique };
  }
  const comment = `/* ${pairs.map(([name, value]) => `${name}=${value}`).join(',')} */`;
  return format === 'standard'
    ? { before: '', after: ` ${comment}`, labels: tags, isUnique }
    : { before: `${comment} `, after: '', labels: tags, isUnique };
}

/** Percent-encoded, so that no value ends the comment, its own quotes, or is taken for a placeholder. */
function encoded(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*~]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** REST endpoints with their queries and URL patterns, and the inconsistencies of those that cannot be called. */
import { entryCodecs, type Metadata } from '../../metadata/metadata.ts';
import type { CollectedQuery } from '../../metadata/query-collection.ts';
import type { RestEndpoint } from '../../metadata/rest-endpoint.ts';
import { unknownParts } from '../../metadata/unknown-parts.ts';
import { inconsistent, type ObjectDescription } from '../../schema-cache/inconsistency.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { Inconsistency } from '../../schema-cache/schema-cache.ts';
import { groupBy } from '../../util/group-by.ts';
import type { Json } from '../../util/json.ts';
import { declareVariables, type VariableDeclaration } from '../../graphql-engine/variables.ts';
import { readQuery } from './read-query.ts';
import { overlaps, parseTemplate, type Segment } from './template.ts';

/** An endpoint that can be called. Its query may still be invalid for some or all roles. */
export interface EndpointInfo {
  readonly endpoint: RestEndpoint;
  readonly segments: readonly Segment[];
  readonly query: CollectedQuery;
  readonly variables: ReadonlyMap<string, VariableDeclaration>;
}

export interface Endpoints {
  readonly endpoints: readonly EndpointInfo[];
  readonly inconsistencies: readonly Inconsistency[];
}

export function resolveEndpoints(metadata: Pick<Metadata, 'restEndpoints' | 'queryCollections'>, maxTokens: number): Endpoints {
  const found: EndpointInfo[] = [];
  const endpoints: EndpointInfo[] = [];
  const inconsistencies: Inconsistency[] = [];
  const undeclared: Inconsistency[] = [];
  for (const endpoint of metadata.restEndpoints.values()) {
    const resolved = resolveEndpoint(endpoint, metadata.queryCollections, maxTokens);
    if ('reason' in resolved) {
      inconsistencies.push(resolved);
      continue;
    }
    found.push(resolved.info);
    if (resolved.undeclared === undefined) endpoints.push(resolved.info);
    else undeclared.push(resolved.undeclared);
  }
  const ambiguous = ambiguities(found);
  const reported = new Set(ambiguous.map(({ objectId: id }) => id));
  return { endpoints, inconsistencies: [...inconsistencies, ...ambiguous, ...undeclared.filter(({ objectId: id }) => !reported.has(id))] };
}

interface Resolved {
  readonly info: EndpointInfo;
  /** Set if the path has a variable that the query does not declare: the endpoint is not served. */
  readonly undeclared?: Inconsistency;
}

function resolveEndpoint(endpoint: RestEndpoint, collections: Metadata['queryCollections'], maxTokens: number): Resolved | Inconsistency {
  const { collectionName, queryName } = endpoint.definition.query;
  const broken = (reason: string): Inconsistency => inconsistent(describeEndpoint(endpoint), `in endpoint ${endpoint.name}: ${reason}`);
  const segments = parseTemplate(endpoint.url);
  if (typeof segments === 'string') return { ...describeEndpoint(endpoint), reason: segments };
  const [unknown] = unknownParts(endpoint);
  if (unknown !== undefined) return broken(`${unknown.problem} (at ${unknown.key})`);
  const collection = collections.get(collectionName);
  if (collection === undefined) return broken(`collection with name ${collectionName} does not exist`);
  const query = collection.queries.get(queryName);
  if (query === undefined) return broken(`query with name ${queryName} does not exist in collection ${collectionName}`);
  const read = readQuery(query, maxTokens);
  // The query itself is inconsistent, so the endpoint has no record of its own.
  if ('error' in read) return { info: { endpoint, segments, query, variables: new Map() } };
  const [operation, ...more] = read.definitions.operations;
  if (operation === undefined || more.length > 0) return broken(`query with name ${queryName} does not have exactly one operation`);
  if (operation.operation === 'subscription') return broken(`query with name ${queryName} is a subscription`);
  const variables = declareVariables(operation);
  const info: EndpointInfo = { endpoint, segments, query, variables };
  const names = segments.flatMap((segment) => (segment.kind === 'variable' && !variables.has(segment.name) ? [`"$${segment.name}"`] : []));
  return names.length === 0
    ? { info }
    : { info, undeclared: broken(`the query ${queryName} does not declare ${names.join(', ')} of the path`) };
}

function describeEndpoint(endpoint: RestEndpoint): ObjectDescription {
  return {
    objectId: objectId.restEndpoint(endpoint.name),
    type: 'rest_endpoint',
    name: `rest_endpoint ${endpoint.name}`,
    definition: entryCodecs.restEndpoint.encode(endpoint),
  };
}

/** Returns endpoints that match the same request, in groups: each overlaps with another of its group under the same method. */
function ambiguities(endpoints: readonly EndpointInfo[]): readonly Inconsistency[] {
  const byLength = groupBy(endpoints, ({ segments }) => segments.length);
  return [...byLength.values()].flatMap((candidates) =>
    groups(candidates, collide).flatMap((group) => {
      const sorted = [...group].sort((a, b) => (a.endpoint.url < b.endpoint.url ? -1 : a.endpoint.url > b.endpoint.url ? 1 : 0));
      const reason = `Ambiguous URL paths: ${sorted.map(({ endpoint }) => endpoint.url).join(', ')}`;
      const record: Json = { reason, conflicts: sorted.map(conflictOf) };
      return sorted.map(({ endpoint }): Inconsistency => ({ ...describeEndpoint(endpoint), reason, record }));
    }),
  );
}

function collide(a: EndpointInfo, b: EndpointInfo): boolean {
  return a.endpoint.methods.some((method) => b.endpoint.methods.includes(method)) && overlaps(a.segments, b.segments);
}

/** Returns the endpoint in the record of a conflict: with the text of the query instead of its name. */
function conflictOf({ endpoint, query }: EndpointInfo): Json {
  const { name, url, methods, comment } = endpoint;
  return { definition: { query: query.query }, url, methods: [...methods], name, comment };
}

/** Returns the connected components with more than one item. */
function groups<T>(items: readonly T[], connected: (a: T, b: T) => boolean): readonly (readonly T[])[] {
  const remaining = new Set(items);
  const found: T[][] = [];
  for (const item of items) {
    if (!remaining.delete(item)) continue;
    const group = [item];
    for (const member of group) {
      for (const other of remaining) {
        if (!connected(member, other)) continue;
        remaining.delete(other);
        group.push(other);
      }
    }
    if (group.length > 1) found.push(group);
  }
  return found;
}

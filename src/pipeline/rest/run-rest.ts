/** Calls a REST endpoint: its operation runs like any request. */
import { SvcError } from '../../errors/svc-error.ts';
import type { StoredOperations } from '../../schema/stored/stored-operations.ts';
import { type Body, type Bytes, type GeneratedBytes, sliceBytes } from '../../util/bytes.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import type { RequestRun } from '../request-run.ts';
import { runRequest } from '../run-request.ts';
import { type RestMatch, routerOf } from './routing.ts';
import { restVariables } from './variables.ts';

/** Sources of variables besides the path. */
export interface RestParameters {
  readonly query: Iterable<readonly [name: string, text: string]>;
  /** `null` if there is none. */
  readonly body: Json;
}

/**
 * @param segments of the path after the common prefix, decoded, without slashes
 * @throws SvcError unless exactly one endpoint matches
 */
export function findEndpoint({ endpoints }: Pick<StoredOperations, 'endpoints'>, method: string, segments: readonly string[]): RestMatch {
  return routerOf(endpoints)(method, segments);
}

/** Returns the indexes of path segments that are variables of these names. @throws SvcError unless exactly one endpoint matches */
export function hiddenSegments(
  names: ReadonlySet<string>,
  stored: Pick<StoredOperations, 'endpoints'>,
  method: string,
  segments: readonly string[],
): ReadonlySet<number> {
  const { info } = findEndpoint(stored, method, segments);
  return new Set(
    [...info.segments.entries()].flatMap(([i, segment]) => (segment.kind === 'variable' && names.has(segment.name) ? [i] : [])),
  );
}

const OPENING = '{"data":';

/**
 * @returns the `data` of the response, in pieces
 * @throws SvcError
 */
export async function runRest(
  { info, pathValues }: RestMatch,
  { query, body }: RestParameters,
  run: Omit<RequestRun, 'request'>,
): Promise<Body> {
  if (body !== null && !isJsonObject(body)) throw new SvcError('bad-request', 'the request body has to be a JSON object');
  const variables = restVariables(info.variables, { path: pathValues, query, body: body ?? {} });
  const { api } = run.snapshot.storedOperations.summary(info.query);
  const document = { id: info.endpoint.name, via: 'rest', stored: null } as const;
  return dataOf(await runRequest({ ...run, request: { query: info.query.query, variables, operationName: null, api, document } }));
}

/** Strips the object around `data`; the boundaries of the pieces depend on the plan. */
function dataOf(pieces: Body): Body {
  const first = pieces[0];
  if (typeof first !== 'string' || !first.startsWith(OPENING)) throw new Error('invariant: a response starts with its data');
  const data: (Bytes | GeneratedBytes)[] = [sliceBytes(first, OPENING.length), ...pieces.slice(1)];
  const last = data.length - 1;
  data[last] = sliceBytes(data[last] as Bytes, 0, -1);
  return data;
}

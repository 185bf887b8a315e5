/** Fetches the schema of a GraphQL server by introspection. */
import { getIntrospectionQuery, type IntrospectionOptions } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { RemoteConnection } from './connection.ts';
import type { TracedCallOptions } from '../../webhooks/call-webhook.ts';
import { callServer, type ServerResponse } from './call-server.ts';
import { defaultHeaders } from './request-headers.ts';

/** In bytes. Parsed as types, a schema takes some twenty times as much memory. */
const MAX_SCHEMA_SIZE = 16 * 1024 * 1024;
/** Maximum number of the server's errors that our error reports. */
const MAX_ERRORS = 10;

/** Forms of the query, most complete first: a server rejects fields that its version of GraphQL does not have. */
const FORMS: readonly IntrospectionOptions[] = [
  { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true },
  { specifiedByUrl: true, directiveIsRepeatable: true },
  { inputValueDeprecation: true },
  {},
];

/**
 * Fetches the whole schema with the role `admin`.
 * @returns `{"data": {"__schema": …}}` as the server sent it, not validated
 * @throws SvcError remote-schema-error
 */
export async function introspectRemote(
  outbound: OutboundClient,
  connection: RemoteConnection,
  callOptions: TracedCallOptions = {},
): Promise<JsonObject> {
  // All attempts share one deadline.
  const deadline = Math.min(callOptions.deadline ?? Number.POSITIVE_INFINITY, Date.now() + connection.timeout);
  let refusal: ServerResponse | undefined;
  for (const form of FORMS) {
    const response = await callServer(
      outbound,
      connection,
      {
        document: getIntrospectionQuery({ descriptions: true, ...form }),
        operationName: 'IntrospectionQuery',
        headers: { ...defaultHeaders(), 'x-svc-role': 'admin', ...connection.headers },
        maxResponseSize: MAX_SCHEMA_SIZE,
      },
      { ...callOptions, deadline },
    );
    const data = isJsonObject(response.body) ? response.body['data'] : undefined;
    if (isJsonObject(data) && isJsonObject(data['__schema'])) return { data };
    refusal = response;
    // A server that responds without GraphQL errors will not accept another form either.
    if (errorsOf(response.body).length === 0) break;
  }
  throw refused(connection, refusal as ServerResponse);
}

function errorsOf(body: Json): readonly Json[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  return isJsonArray(errors) ? errors : [];
}

function refused({ address }: RemoteConnection, { status, body }: ServerResponse): SvcError {
  const errors = errorsOf(body).slice(0, MAX_ERRORS);
  const what = errors.length === 0 ? `no schema, with status ${status}` : 'errors';
  return new SvcError('remote-schema-error', `the introspection of "${address}" returned ${what}`, {
    internal: { status, errors },
  });
}

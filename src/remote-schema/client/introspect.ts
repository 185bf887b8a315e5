/** The schema of a GraphQL server, as it describes itself. */
import { getIntrospectionQuery, type IntrospectionOptions } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { RemoteConnection } from './connection.ts';
import type { Patience } from '../../webhooks/call-webhook.ts';
import { type Answered, exchange } from './exchange.ts';
import { defaultHeaders } from './request-headers.ts';

/** Bytes. Read as types, they take some twenty times as much memory. */
const MAX_SCHEMA_SIZE = 16 * 1024 * 1024;
/** What errors tell of those that the server answered with. */
const MAX_ERRORS = 10;

/** What may be asked, the most first: a server refuses a query with a field that its version of GraphQL does not have. */
const FORMS: readonly IntrospectionOptions[] = [
  { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true },
  { specifiedByUrl: true, directiveIsRepeatable: true },
  { inputValueDeprecation: true },
  {},
];

/**
 * Asks for all of the schema, as an administrator.
 * @returns `{"data": {"__schema": …}}` as the server said it; whether it makes sense is for its reader to find out
 * @throws SvcError remote-schema-error
 */
export async function introspectRemote(
  outbound: OutboundClient,
  connection: RemoteConnection,
  patience: Patience = {},
): Promise<JsonObject> {
  // One time limit for all attempts together.
  const deadline = Math.min(patience.deadline ?? Number.POSITIVE_INFINITY, Date.now() + connection.timeout);
  let refusal: Answered | undefined;
  for (const form of FORMS) {
    const answer = await exchange(
      outbound,
      connection,
      {
        document: getIntrospectionQuery({ descriptions: true, ...form }),
        operationName: 'IntrospectionQuery',
        headers: { ...defaultHeaders(), 'x-svc-role': 'admin', ...connection.headers },
        maxResponseSize: MAX_SCHEMA_SIZE,
      },
      { ...patience, deadline },
    );
    const data = isJsonObject(answer.body) ? answer.body['data'] : undefined;
    if (isJsonObject(data) && isJsonObject(data['__schema'])) return { data };
    refusal = answer;
    // Who refuses with anything but errors of GraphQL will not answer another form either.
    if (errorsOf(answer.body).length === 0) break;
  }
  throw refused(connection, refusal as Answered);
}

function errorsOf(body: Json): readonly Json[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  return isJsonArray(errors) ? errors : [];
}

function refused({ address }: RemoteConnection, { status, body }: Answered): SvcError {
  const errors = errorsOf(body).slice(0, MAX_ERRORS);
  const what = errors.length === 0 ? `no schema, with status ${status}` : 'errors';
  return new SvcError('remote-schema-error', `the introspection of "${address}" was answered with ${what}`, {
    internal: { status, errors },
  });
}

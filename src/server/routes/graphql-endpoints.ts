/** The endpoints for GraphQL, over HTTP and websockets. */
import { SvcError } from '../../errors/svc-error.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import type { ServerContext } from '../context.ts';

export interface GraphqlEndpoint {
  readonly path: string;
  /** Schema that it serves. */
  readonly api: SchemaApi;
  /** If true, errors keep their HTTP status, and a websocket gets a single error for a rejected operation. */
  readonly hasBareErrors: boolean;
}

export const GRAPHQL_ENDPOINTS: readonly GraphqlEndpoint[] = [
  { path: '/v1/graphql', api: 'graphql', hasBareErrors: false },
  { path: '/v1alpha1/graphql', api: 'graphql', hasBareErrors: true },
  { path: '/v1/relay', api: 'relay', hasBareErrors: false },
  { path: '/v1beta1/relay', api: 'relay', hasBareErrors: false },
];

/** @throws SvcError not-found if the schema is switched off */
export function checkApi(api: SchemaApi, { relay }: Pick<ServerContext['options'], 'relay'>): void {
  if (relay || api === 'graphql') return;
  throw new SvcError('not-found', 'Relay is disabled: set --enable-relay to serve it', { status: 404, keepsStatus: true });
}

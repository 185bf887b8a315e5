/** The schemas that GraphQL endpoints serve. */
import { SvcError } from '../../errors/svc-error.ts';
import type { ServerContext } from '../context.ts';

/** Paths of the schema for clients of Relay. */
export const RELAY_PATHS: readonly string[] = ['/v1/relay', '/v1beta1/relay'];

/** Returns the schema of a path. */
export function apiOf(path: string): 'graphql' | 'relay' {
  return RELAY_PATHS.includes(path) ? 'relay' : 'graphql';
}

/** @throws SvcError not-found if the schema of the path is switched off */
export function checkApi(path: string, { relay }: Pick<ServerContext['options'], 'relay'>): void {
  if (relay || apiOf(path) === 'graphql') return;
  throw new SvcError('not-found', 'Relay is switched off: --enable-relay', { status: 404, keepsStatus: true });
}

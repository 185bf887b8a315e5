import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import { createOutboundClient } from '../http-client/client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import type { RemoteContext } from '../state/live-remote.ts';
import { introspectRemote } from '../remote-schema/client/introspect.ts';

/**
 * Introspects remote schemas. Each introspection has connections of its own: the TLS allowlist of the metadata that adds the server is
 * not in force yet.
 */
export function remoteServers(refusePrivate: boolean, environment: EnvironmentVariables): RemoteContext {
  return {
    environment,
    async introspect(connection, network, callOptions) {
      const outbound = createOutboundClient({ refusePrivate, tlsAllowlist: () => tlsAllowlistOf(network) });
      try {
        return await introspectRemote(outbound, connection, callOptions);
      } finally {
        await outbound.close();
      }
    },
  };
}

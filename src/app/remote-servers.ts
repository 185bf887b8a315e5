import type { Environment } from '../metadata/environment-template.ts';
import { createOutboundClient } from '../http-client/client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import type { RemoteContext } from '../state/live-remote.ts';
import { introspectRemote } from '../remote-schema/client/introspect.ts';

/**
 * How the schemas of other servers are read. Each time with connections of its own: the metadata that names the server
 * may also name the certificates that need no check, and is not in force yet.
 */
export function remoteServers(refusePrivate: boolean, environment: Environment): RemoteContext {
  return {
    environment,
    async introspect(connection, network, wanted) {
      const outbound = createOutboundClient({ refusePrivate, tlsAllowlist: () => tlsAllowlistOf(network) });
      try {
        return await introspectRemote(outbound, connection, wanted);
      } finally {
        await outbound.close();
      }
    },
  };
}

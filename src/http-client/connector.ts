import { lookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { classifyAddress, isMetadataServer } from './address.ts';
import { OutboundError } from './outbound-error.ts';

export interface ConnectorOptions {
  /** Rejects addresses that are not public. */
  readonly refusePrivate: boolean;
  readonly checkCertificates: boolean;
  /** Allows the link-local addresses of metadata servers of Google Cloud. */
  readonly toMetadataServer?: boolean;
  /** In ms. */
  readonly connectTimeout: number;
  /** Name resolution. Defaults to the system's. */
  readonly lookup?: LookupFunction;
}

const BLOCKED = 'Blocked connection to private IP address';

/**
 * Opens sockets for the client. Checks the resolved addresses when it connects, so that a name which resolves differently the second
 * time (DNS rebinding) does not bypass the check.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const isRefused = (address: string): boolean => {
    const found = classifyAddress(address);
    if (found === 'never') return !(options.toMetadataServer === true && isMetadataServer(address));
    return found === 'private' && options.refusePrivate;
  };
  const connect = buildConnector({
    timeout: options.connectTimeout,
    rejectUnauthorized: options.checkCertificates,
    lookup: checkedLookup(options.lookup ?? (lookup as LookupFunction), isRefused),
  });
  return (target, callback) => {
    // Literal addresses are not resolved, so `lookup` does not see them.
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && isRefused(host)) {
      callback(new OutboundError('refused-address', BLOCKED), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) callback(error, null);
      else if (isRefused((socket as Socket).remoteAddress ?? '')) {
        socket.destroy();
        callback(new OutboundError('refused-address', BLOCKED), null);
      } else callback(null, socket);
    });
  };
}

/** Wraps a lookup: it drops the refused addresses and fails if none remains. */
function checkedLookup(resolve: LookupFunction, isRefused: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const addresses = (Array.isArray(found) ? found : []).filter(({ address }) => !isRefused(address));
      const [first] = addresses;
      if (first === undefined) callback(new OutboundError('refused-address', BLOCKED) as NodeJS.ErrnoException, '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

import { lookup } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { classifyAddress, isMetadataServer } from './address.ts';
import { OutboundError } from './outbound-error.ts';

export interface ConnectorOptions {
  /** Refuse addresses that are not public, too. */
  readonly refusePrivate: boolean;
  /** Whether certificates are checked. */
  readonly checkCertificates: boolean;
  /** Allow the link-local addresses of metadata servers of Google Cloud. */
  readonly toMetadataServer?: boolean;
  /** ms */
  readonly connectTimeout: number;
  /** Name resolution; the system's when absent. */
  readonly lookup?: LookupFunction;
}

const BLOCKED = 'Blocked connection to private IP address';

/**
 * Opens sockets for the client. The addresses that a name resolved to are judged here, at the moment of
 * connecting, so that a name which resolves differently the second time gains nothing.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const refused = (address: string): boolean => {
    const found = classifyAddress(address);
    if (found === 'never') return !(options.toMetadataServer === true && isMetadataServer(address));
    return found === 'private' && options.refusePrivate;
  };
  const connect = buildConnector({
    timeout: options.connectTimeout,
    rejectUnauthorized: options.checkCertificates,
    lookup: judgedLookup(options.lookup ?? (lookup as LookupFunction), refused),
  });
  return (target, callback) => {
    // The system resolves no name that is an address already, so `lookup` does not see it.
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && refused(host)) {
      callback(new OutboundError('refused-address', BLOCKED), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) callback(error, null);
      else if (refused((socket as Socket).remoteAddress ?? '')) {
        socket.destroy();
        callback(new OutboundError('refused-address', BLOCKED), null);
      } else callback(null, socket);
    });
  };
}

/** Resolves to the addresses that are not refused; an error when none is left. */
function judgedLookup(resolve: LookupFunction, refused: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const addresses = (Array.isArray(found) ? found : []).filter(({ address }) => !refused(address));
      const [first] = addresses;
      if (first === undefined) callback(new OutboundError('refused-address', BLOCKED) as NodeJS.ErrnoException, '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

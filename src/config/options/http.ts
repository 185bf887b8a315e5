/** HTTP server, websockets and CORS. */
import { optionsOf } from '../option.ts';
import {
  addressRanges,
  boolean,
  type CorsDomains,
  corsDomains,
  type HostNames,
  hostNames,
  wholeNumber,
  wordList,
  seconds,
  anyText,
} from '../option-types.ts';

const API_TYPES = ['metadata', 'graphql', 'pgdump', 'developer', 'config', 'metrics'] as const;
type ApiType = (typeof API_TYPES)[number];

const http = optionsOf('HTTP');

export const httpOptions = {
  serverPort: http('server-port', wholeNumber(0, 65_535), 8080, 'Port to listen on; 0 chooses a free port.'),
  serverHost: http('server-host', anyText, '*', 'Address to listen on; * means all addresses.'),
  serverTimeout: http('server-timeout', seconds(0), 30_000, 'Timeout for a client to send a request, in seconds; 0 means no limit.'),
  responseTimeout: http(
    'response-timeout',
    seconds(0),
    30_000,
    'Timeout for a client that reads none of its response, in seconds; 0 means no limit. After this time, the connection is also closed if the client reads less than 64 KiB per second of a large response.',
  ),
  maxTotalHeaderLength: http(
    'max-total-header-length',
    wholeNumber(1024, 16_777_216),
    16_384,
    'Maximum size of the request line and headers, in bytes; more is rejected with status 431. Separators and line ends count. Headers are read before authentication, so a large value allows unauthenticated clients to cause more work.',
  ),
  gracefulShutdownTimeout: http(
    'graceful-shutdown-timeout',
    seconds(0),
    60_000,
    'Timeout for requests in flight after SIGINT or SIGTERM, in seconds.',
  ),
  shutdownDelay: http(
    'shutdown-delay',
    seconds(0, 3600),
    0,
    'Time to keep serving after SIGINT or SIGTERM, in seconds. Meanwhile /readyz responds with status 503, so that load balancers stop sending requests. 10 is common behind a load balancer.',
  ),
  trustedProxies: http(
    'trusted-proxies',
    addressRanges,
    [] as readonly string[],
    'Comma-separated list of addresses and CIDR ranges of trusted proxies. For requests from them, the client address in the log and in rate limits by IP is the last address in X-Forwarded-For that is not in the list. For other requests, it is the address of the connection.',
  ),
  corsDomain: http(
    'cors-domain',
    corsDomains,
    '*' as CorsDomains,
    'Comma-separated list of CORS origins, scheme://[*.]host[:port], or *. Only pages of listed origins can send cookies or use a service without an admin secret; * lists no origin.',
  ),
  trustedHosts: http(
    'trusted-hosts',
    hostNames,
    [] as HostNames,
    'Comma-separated list of host names of a service without an admin secret, [*.]host, or *. Always permitted are localhost, IP addresses, names without a dot, --server-host and the hosts of --cors-domain. Requests for other host names are rejected.',
  ),
  disableCors: http('disable-cors', boolean, false, 'Send no CORS headers, and respond to no preflight requests.'),
  websocketKeepalive: http(
    'websocket-keepalive',
    seconds(0, 3600),
    5000,
    'Interval of keep-alive messages on websockets and event streams, in seconds; 0 disables them.',
  ),
  websocketConnectionInitTimeout: http(
    'websocket-connection-init-timeout',
    seconds(1, 3600),
    3000,
    'Timeout for the connection_init message of a websocket, in seconds.',
  ),
  websocketCompression: http(
    'websocket-compression',
    boolean,
    false,
    'Compress websocket messages of 1 KiB and more, if the client supports it. Needs CPU time and memory for each websocket.',
    { env: 'CONNECTION_COMPRESSION' },
  ),
  wsReadCookie: http(
    'ws-read-cookie',
    boolean,
    false,
    'Accept the cookie of a websocket request even with --disable-cors, which ignores it otherwise.',
  ),
  closeWebsocketsOnMetadataChange: http(
    'close-websockets-on-metadata-change',
    boolean,
    false,
    'Close all websockets and event streams after every metadata change. Otherwise they stay open, and the change applies to them from then on.',
  ),
  enabledApis: http(
    'enabled-apis',
    wordList(API_TYPES, 'Only expecting list of comma separated API types metadata,graphql,pgdump,developer,config,metrics'),
    new Set<ApiType>(['metadata', 'graphql', 'pgdump', 'config']),
    'Comma-separated list of endpoint groups to serve.',
    {
      withoutEffect: new Map<ApiType, string>([
        ['pgdump', 'there is the endpoint /v1alpha1/pg_dump'],
        ['developer', 'there are endpoints under /dev'],
      ]),
    },
  ),
} as const;

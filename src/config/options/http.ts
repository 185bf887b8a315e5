/** Where and how the service answers. */
import { optionsOf } from '../option.ts';
import {
  addressRanges,
  boolean,
  type CorsDomains,
  corsDomains,
  type HostNames,
  hostNames,
  integer,
  listOf,
  seconds,
  text,
} from '../option-types.ts';

const API_TYPES = ['metadata', 'graphql', 'pgdump', 'developer', 'config', 'metrics'] as const;
type ApiType = (typeof API_TYPES)[number];

const http = optionsOf('HTTP');

export const httpOptions = {
  serverPort: http('server-port', integer(0, 65_535), 8080, 'Port to listen on; 0 takes a free one.'),
  serverHost: http('server-host', text, '*', 'Address to listen on; * is all of them.'),
  serverTimeout: http('server-timeout', seconds(0), 30_000, 'How long a client may take to send a request; 0 is no limit.'),
  responseTimeout: http(
    'response-timeout',
    seconds(0),
    30_000,
    'Close the connection of a client that has taken nothing of an answer for so long, or less than 64 KiB a second of a large one beyond that time; 0 is no limit.',
  ),
  maxTotalHeaderLength: http(
    'max-total-header-length',
    integer(1024, 16_777_216),
    16_384,
    'Most bytes of the first line and the headers of a request, with what stands between names and values and at the end of each line; more is refused with status 431. The head of a token is read before anybody knows who sent it, so a large value lets strangers make work.',
  ),
  gracefulShutdownTimeout: http(
    'graceful-shutdown-timeout',
    seconds(0),
    60_000,
    'How long requests in flight may still run after SIGINT or SIGTERM.',
  ),
  shutdownDelay: http(
    'shutdown-delay',
    seconds(0, 3600),
    0,
    'How long to go on serving after SIGINT or SIGTERM, with /readyz already saying 503, before the service stops: balancers need so long to send nothing more. 10 is usual behind them.',
  ),
  trustedProxies: http(
    'trusted-proxies',
    addressRanges,
    [] as readonly string[],
    'Comma separated list of addresses and CIDR ranges of the proxies in front of the service. Of requests that come from them, the address of the client is the last one in X-Forwarded-For that is not in the list: in the log, and where limits of roles count by IP. Without it, it is that of the connection.',
  ),
  corsDomain: http(
    'cors-domain',
    corsDomains,
    '*' as CorsDomains,
    'Origins that browsers may call from: a comma separated list of scheme://[*.]host[:port], or *. Pages of other origins may use cookies, or a service without an admin secret, only if their origin is in the list; * is no list.',
  ),
  trustedHosts: http(
    'trusted-hosts',
    hostNames,
    [] as HostNames,
    'Names by which a service without an admin secret is addressed, besides localhost, IP addresses, names without a point, --server-host and the hosts of --cors-domain: a comma separated list of [*.]host, or *. Requests for other names are refused.',
  ),
  disableCors: http('disable-cors', boolean, false, 'Send no CORS headers and answer no preflight request.'),
  websocketKeepalive: http(
    'websocket-keepalive',
    seconds(0, 3600),
    5000,
    'How often websockets and event streams get a sign of life, so that proxies leave them open; 0 sends none.',
  ),
  websocketConnectionInitTimeout: http(
    'websocket-connection-init-timeout',
    seconds(1, 3600),
    3000,
    'How long a client may take to say who it is, once its websocket is open.',
  ),
  websocketCompression: http(
    'websocket-compression',
    boolean,
    false,
    'Compress messages of 1 KiB and more for websockets of clients that can read that; it takes time and memory for every one of them.',
    { env: 'CONNECTION_COMPRESSION' },
  ),
  wsReadCookie: http(
    'ws-read-cookie',
    boolean,
    false,
    'Let the cookie of a websocket count even with --disable-cors; without CORS it is ignored otherwise.',
  ),
  closeWebsocketsOnMetadataChange: http(
    'close-websockets-on-metadata-change',
    boolean,
    false,
    'Close all websockets and event streams with every change of the metadata, so that clients connect anew. Without it they stay, and what has changed holds for them from then on.',
  ),
  enabledApis: http(
    'enabled-apis',
    listOf(API_TYPES, 'Only expecting list of comma separated API types metadata,graphql,pgdump,developer,config,metrics'),
    new Set<ApiType>(['metadata', 'graphql', 'pgdump', 'config']),
    'Comma separated list of the endpoint groups to serve.',
    {
      withoutEffect: new Map<ApiType, string>([
        ['pgdump', 'there is the endpoint /v1alpha1/pg_dump'],
        ['developer', 'there are endpoints under /dev'],
      ]),
    },
  ),
} as const;

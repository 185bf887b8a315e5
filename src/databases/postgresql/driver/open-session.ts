/**
 * Opens connections with `pg`, which implements URLs, TLS, authentication and start-up parameters, and takes over the socket when the
 * server is ready. Reasons: docs/adr/0001-postgresql-driver.md.
 */
import net, { type Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { ConnectionError } from './database-error.ts';
import { WireExchange, type WireStep } from './exchange.ts';
import { DriverSession } from './session.ts';
import { SharedBufferSocket } from './shared-buffer-socket.ts';

export interface ConnectionTarget {
  /** Options of `pg` without `ssl`. */
  readonly client: pg.ClientConfig;
  /** Variants of TLS to try in order; false for none. */
  readonly ssl: readonly (false | ConnectionOptions)[];
  readonly prepare: boolean;
  /** Estimated memory of prepared statements per connection in the server, in bytes. */
  readonly preparedMemory: number;
  /** Run once in each new session. */
  readonly setup: WireStep | null;
}

/** Members of a connected client that `pg` does not declare. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket };
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
}

/** Timeout for a cancel request. */
const CANCEL_TIMEOUT_MS = 4_000;

/** Returns a function that opens sessions and remembers the variant of TLS that the server accepts. */
export function createOpener(target: () => ConnectionTarget): () => Promise<DriverSession> {
  return createConnector(target, takeOver);
}

/** Returns a function that opens clients of `pg`, for features that sessions lack. They have a listener for `error`. */
export function createClientOpener(target: () => ConnectionTarget): () => Promise<pg.Client> {
  return createConnector(target, (_target, client) => Promise.resolve(client));
}

function currentTarget(targetNow: () => ConnectionTarget): ConnectionTarget {
  try {
    return targetNow();
  } catch (error) {
    throw new ConnectionError('open', error instanceof Error ? error.message : String(error), error);
  }
}

type Use<T> = (target: ConnectionTarget, client: pg.Client, ssl: false | ConnectionOptions) => Promise<T>;

/** @param targetNow called for each connection; returns the same object until the target changes */
function createConnector<T>(targetNow: () => ConnectionTarget, use: Use<T>): () => Promise<T> {
  let preferred = 0;
  let known: ConnectionTarget | undefined;
  return async () => {
    const target = currentTarget(targetNow);
    if (target !== known) preferred = 0;
    known = target;
    const count = target.ssl.length;
    let first: unknown;
    for (let attempt = 0; ; attempt++) {
      const index = (preferred + attempt) % count;
      const ssl = target.ssl[index] as false | ConnectionOptions;
      try {
        const opened = await use(target, await connect(target, ssl), ssl);
        preferred = index;
        return opened;
      } catch (error) {
        first ??= error;
        if (attempt + 1 < count && mayHelpToChangeEncryption(error)) continue;
        // Reports the last error if the server sent it, otherwise the first: the last may only say that TLS is not supported.
        const reason = error instanceof pg.DatabaseError ? error : first;
        throw new ConnectionError('open', reasonOf(reason), reason);
      }
    }
  };
}

/** Returns the message of an error. A host with several addresses fails with an error without text that contains one per address. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}

async function connect(target: ConnectionTarget, ssl: false | ConnectionOptions): Promise<pg.Client> {
  // A TLS socket reads from the underlying handle and allocates its own buffers.
  const client = new pg.Client({ ...target.client, ssl, ...(ssl === false ? { stream: () => new SharedBufferSocket() } : {}) });
  // The listeners of `pg` stay on the socket after it is taken over; their errors are ignored.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    (client as unknown as ConnectedClient).connection.stream.destroy();
    throw error;
  }
  return client;
}

async function takeOver(target: ConnectionTarget, client: pg.Client, ssl: false | ConnectionOptions): Promise<DriverSession> {
  const connected = client as unknown as ConnectedClient;
  const stream = connected.connection.stream;
  stream.removeAllListeners('data');
  const session = new DriverSession(stream, {
    prepare: target.prepare,
    preparedMemory: target.preparedMemory,
    cancel: (done) => sendCancel(connected, ssl, done),
    terminate: terminator(target, connected, ssl),
  });
  if (target.setup !== null) await setUp(session, target.setup, target.client.connectionTimeoutMillis ?? 0);
  return session;
}

/** @param limit timeout in milliseconds, because a server may accept a session and then stop responding; 0 for none */
function setUp(session: DriverSession, step: WireStep, limit: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = (): void => session.destroy(new ConnectionError('open', 'the server did not answer the settings of the session in time'));
    const timer = limit > 0 ? setTimeout(late, limit) : undefined;
    const settle = (done: WireExchange): void => {
      clearTimeout(timer);
      if (done.failure === null) {
        resolve();
        return;
      }
      session.end();
      reject(done.failure);
    };
    session.send(new WireExchange('json', [step], settle));
  });
}

/** Returns whether another variant of TLS may succeed: the server lacks TLS, TLS failed, or pg_hba.conf has no rule for this variant. */
function mayHelpToChangeEncryption(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  // The driver reports a server without TLS by a message only.
  return code === '28000' || code === 'EPROTO' || (typeof code === 'string' && code.startsWith('ERR_SSL')) || error.message.includes('SSL');
}

/** Ends a session only if it is the service's own, by its port: behind a pooler the process is another one, or none. */
const TERMINATE =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and client_port = $2 and datname = current_database() and usename = session_user';
/** Port of a connection through a Unix socket. */
const NO_PORT = -1;

/** Returns a function that ends the session from another one. If none can be opened, the server itself detects that the client is gone. */
function terminator(
  target: ConnectionTarget,
  { processID, connection: { stream } }: ConnectedClient,
  ssl: false | ConnectionOptions,
): () => void {
  // A closed socket has no port.
  const port = stream.localPort ?? NO_PORT;
  const terminate = async (): Promise<void> => {
    const client = await connect(target, ssl);
    try {
      await client.query({ text: TERMINATE, values: [processID, port], query_timeout: CANCEL_TIMEOUT_MS } as pg.QueryConfig);
    } finally {
      await client.end();
    }
  };
  return () => void terminate().catch(() => undefined);
}

/**
 * Sends a cancel request on a socket of its own. The server closes that socket after it has sent the signal; until then the signal may
 * cancel any later statement.
 */
function sendCancel(client: ConnectedClient, ssl: false | ConnectionOptions, done: (isHandled: boolean) => void): void {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80877102, 4);
  message.writeInt32BE(client.processID, 8);
  message.writeInt32BE(client.secretKey, 12);
  const socket = client.host.startsWith('/')
    ? net.connect(`${client.host}/.s.PGSQL.${client.port}`)
    : net.connect(client.port, client.host);
  let isHandled = true;
  const timer = setTimeout(() => {
    // The server may still read a request that was sent.
    isHandled = socket.connecting;
    socket.destroy();
  }, CANCEL_TIMEOUT_MS);
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    done(isHandled);
  });
  if (ssl === false) {
    socket.write(message);
    return;
  }
  const request = Buffer.alloc(8);
  request.writeInt32BE(8, 0);
  request.writeInt32BE(80877103, 4);
  socket.write(request);
  socket.once('data', (answer) => {
    if (answer[0] !== 0x53) {
      socket.destroy();
      return;
    }
    const secure = tls.connect({ ...ssl, socket, host: client.host, ...(net.isIP(client.host) === 0 ? { servername: client.host } : {}) });
    secure.on('error', () => socket.destroy());
    secure.on('data', () => {});
    secure.once('secureConnect', () => secure.write(message));
  });
}

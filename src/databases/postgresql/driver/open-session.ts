/**
 * Opens connections with `pg`, which knows URLs, TLS, authentication and start-up parameters, and
 * takes over the socket when the server is ready. Why: docs/adr/0001-postgresql-driver.md.
 */
import net, { type Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { ConnectionError } from './database-error.ts';
import { WireExchange, type WireStep } from './exchange.ts';
import { DriverSession } from './session.ts';
import { SharedBufferSocket } from './shared-buffer-socket.ts';

export interface ConnectionTarget {
  /** Without `ssl`. */
  readonly client: pg.ClientConfig;
  /** What to try, in order; false is no TLS. */
  readonly ssl: readonly (false | ConnectionOptions)[];
  readonly prepare: boolean;
  /** Bytes that the named statements of a connection may take in the server, estimated. */
  readonly preparedMemory: number;
  /** Run once in each new session. */
  readonly setup: WireStep | null;
}

/** The parts of a connected client that the take-over needs; `pg` does not declare them. */
interface ConnectedClient {
  readonly connection: { readonly stream: Socket };
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
}

/** Seconds after which an unanswered cancel request counts as dealt with. */
const CANCEL_TIMEOUT_MS = 4_000;

/** A function that opens sessions. It remembers which kind of encryption the server accepts. */
export function createOpener(target: () => ConnectionTarget): () => Promise<DriverSession> {
  return createConnector(target, takeOver);
}

/** The same for plain clients, for what sessions cannot do. Their `error` event is already heard. */
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

/** @param targetNow asked for each connection; the same object as long as nothing has changed */
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
        // What the server said to the first attempt is the reason; that the other kind of encryption is not there is none.
        first ??= error;
        if (attempt + 1 < count && mayHelpToChangeEncryption(error)) continue;
        const reason = error instanceof pg.DatabaseError ? error : first;
        throw new ConnectionError('open', reasonOf(reason), reason);
      }
    }
  };
}

/** A name with several addresses fails once for each of them; the error of all has no text. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}

async function connect(target: ConnectionTarget, ssl: false | ConnectionOptions): Promise<pg.Client> {
  // A secure socket reads what the plain one under it would, so it makes buffers of its own.
  const client = new pg.Client({ ...target.client, ssl, ...(ssl === false ? { stream: () => new SharedBufferSocket() } : {}) });
  // After a take-over pg's listeners stay on the socket; what they report goes nowhere.
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

/** @param limit ms for the answer, because a server may let someone in and say nothing more; 0: none */
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

/** No TLS on the server, a TLS failure, or no rule in pg_hba.conf for this kind of connection. */
function mayHelpToChangeEncryption(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return code === '28000' || code === 'EPROTO' || (typeof code === 'string' && code.startsWith('ERR_SSL')) || error.message.includes('SSL');
}

/** Behind a pooler the process is another one, or none: what is ended is ours, from where this machine has connected. */
const TERMINATE =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and client_port = $2 and datname = current_database() and usename = session_user';
/** Of a connection by a file. */
const NO_PORT = -1;

/** Ends the session from another one; where there is none to be had, the server notices by itself that the client has gone. */
function terminator(
  target: ConnectionTarget,
  { processID, connection: { stream } }: ConnectedClient,
  ssl: false | ConnectionOptions,
): () => void {
  // Nobody knows it of a socket that is closed.
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
 * Asks the server to stop what the connection is doing, on a socket of its own. The server closes
 * that socket when it has sent the signal; until then the signal may hit any later statement.
 */
function sendCancel(client: ConnectedClient, ssl: false | ConnectionOptions, done: (isDealtWith: boolean) => void): void {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(80877102, 4);
  message.writeInt32BE(client.processID, 8);
  message.writeInt32BE(client.secretKey, 12);
  const socket = client.host.startsWith('/')
    ? net.connect(`${client.host}/.s.PGSQL.${client.port}`)
    : net.connect(client.port, client.host);
  let isDealtWith = true;
  const timer = setTimeout(() => {
    // What was sent is read even now, when the server comes to it.
    isDealtWith = socket.connecting;
    socket.destroy();
  }, CANCEL_TIMEOUT_MS);
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    done(isDealtWith);
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

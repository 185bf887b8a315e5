/**
 * Runs the requests of each connection sequentially: an HTTP/1.1 client may send several before it reads the first response, and a
 * mutation must not overtake earlier requests (RFC 9112, section 9.3.2). When the connection closes, the running request is cancelled and
 * the waiting ones are dropped.
 */
import type { Socket } from 'node:net';
import { CancellationSource } from '../util/cancellation.ts';

/** Answers one request; `client` is cancelled when the client disconnects. Never rejects. */
export type Serve = (client: CancellationSource) => Promise<void>;

interface Connection {
  running: CancellationSource | null;
  readonly waiting: Serve[];
}

/** Maximum number of waiting requests per connection; a client with more is disconnected. */
const MAX_WAITING = 256;

export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  /** Running and waiting requests. */
  #count = 0;
  #idle: (() => void) | null = null;

  get requests(): number {
    return this.#count;
  }

  get size(): number {
    return this.#bySocket.size;
  }

  get sockets(): Iterable<Socket> {
    return this.#bySocket.keys();
  }

  /** Adds a socket; the same one may be added again when its request is not upgraded. */
  add(socket: Socket): void {
    if (this.#bySocket.has(socket)) return;
    const connection: Connection = { running: null, waiting: [] };
    this.#bySocket.set(socket, connection);
    socket.on('close', () => {
      this.#bySocket.delete(socket);
      this.#count -= connection.waiting.length;
      connection.waiting.length = 0;
      connection.running?.cancel();
      this.#checkIdle();
    });
  }

  /** Returns true if a request of the connection is running or waiting. */
  isBusy(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.running != null;
  }

  /** Runs the request after all earlier requests of its connection. */
  enter(socket: Socket, serve: Serve): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return; // The connection was closed meanwhile.
    this.#count++;
    if (connection.running === null) this.#run(connection, serve);
    else if (connection.waiting.push(serve) > MAX_WAITING) socket.destroy();
  }

  /** Resolves when no request is running or waiting, or after `limit` ms. */
  async settled(limit: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #run(connection: Connection, serve: Serve): void {
    const client = new CancellationSource();
    connection.running = client;
    void serve(client).finally(() => {
      connection.running = null;
      this.#count--;
      const next = connection.waiting.shift();
      if (next !== undefined) this.#run(connection, next);
      else this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.#count === 0) this.#idle?.();
  }
}

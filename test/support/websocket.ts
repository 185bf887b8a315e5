import { WebSocket } from 'ws';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';

export const MODERN = 'graphql-transport-ws';
export const LEGACY = 'graphql-ws';

export interface OpenOptions {
  /** Subprotocols, separated by `, `. Undefined requests none. */
  readonly protocol?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A websocket client: messages in order, without keep-alives unless the test requests them. */
export class TestSocket {
  readonly websocket: WebSocket;
  /** Close code and reason of the server. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #messages: JsonObject[] = [];
  readonly #waiting: ((message: JsonObject) => void)[] = [];
  /** Number of keep-alives received. */
  readonly signs: JsonObject[] = [];

  constructor(url: string, { protocol, path = '/v1/graphql', headers = {} }: OpenOptions = {}) {
    this.websocket = new WebSocket(url.replace('http', 'ws') + path, protocol === undefined ? [] : protocol.split(', '), {
      headers: { ...headers },
    });
    this.websocket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.websocket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    this.websocket.on('message', (data) => {
      const message = parseJson(data.toString()) as JsonObject;
      if (message['type'] === 'ka' || message['type'] === 'ping') this.signs.push(message);
      else {
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#messages.push(message);
        else waiting(message);
      }
    });
  }

  /** Resolves when it is open; rejects with the HTTP response of the server otherwise. */
  async opened(): Promise<this> {
    if (this.websocket.readyState === WebSocket.OPEN) return this;
    await new Promise<void>((resolve, reject) => {
      this.websocket.once('open', () => resolve());
      this.websocket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
      });
      this.websocket.once('error', reject);
    });
    return this;
  }

  send(message: Json): void {
    this.websocket.send(printJson(message));
  }

  /** The next message. */
  next(): Promise<JsonObject> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      void this.closed.then(({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`)));
    });
  }

  /** The next `count` messages. */
  async take(count: number): Promise<JsonObject[]> {
    const messages: JsonObject[] = [];
    for (let i = 0; i < count; i++) messages.push(await this.next());
    return messages;
  }

  /** Messages that arrived and were not read. */
  get left(): readonly JsonObject[] {
    return this.#messages;
  }

  async init(headers: JsonObject = {}): Promise<this> {
    await this.opened();
    this.send({ type: 'connection_init', payload: { headers } });
    const ack = await this.next();
    if (ack['type'] !== 'connection_ack') throw new Error(`expected connection_ack, got ${printJson(ack)}`);
    return this;
  }

  start(id: string, query: string, more: JsonObject = {}): void {
    this.send({ id, type: this.websocket.protocol === MODERN ? 'subscribe' : 'start', payload: { query, ...more } });
  }

  close(): void {
    this.websocket.terminate();
  }
}

/**
 * One request and its response, without redirects. It uses `dispatch` instead of `undici.request`, which makes a stream of every
 * response: streams and `AbortSignal`s cost more than the rest of a small call.
 */
import type { Dispatcher } from 'undici';
import { OutboundError } from './outbound-error.ts';
import type { OutboundRequest, OutboundResponse } from './request.ts';

/** The end of a call by timeout or cancellation. */
export interface CallEnd {
  readonly isOver: boolean;
  /** Called when the call has to end; set by the exchange. */
  onEnd: () => void;
}

/** Internal reason for ending a call early; the client replaces it with the actual cause. */
class CallIsOver extends Error {}

/** @throws OutboundError, and errors of undici and sockets */
export function exchange(url: URL, call: OutboundRequest, dispatcher: Dispatcher, end: CallEnd): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(call, resolve, reject);
    end.onEnd = () => collector.fail(new CallIsOver());
    if (end.isOver) {
      collector.fail(new CallIsOver());
      return;
    }
    dispatcher.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method: call.method, headers: headersOf(url, call), body: call.body ?? null },
      collector,
    );
  });
}

function headersOf({ username, password }: URL, { headers = {} }: OutboundRequest): Record<string, string> {
  if (username === '' || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return headers;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { ...headers, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #call: OutboundRequest;
  readonly #resolve: (response: OutboundResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #pieces: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: OutboundResponse['headers'] = {};
  #size = 0;
  #isOver = false;

  constructor(call: OutboundRequest, resolve: (response: OutboundResponse) => void, reject: (error: Error) => void) {
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Closes the connection, and rejects the call if it has not ended yet. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reject(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The call ended while it waited for a connection.
    if (this.#isOver) controller.abort(new CallIsOver());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: OutboundResponse['headers']): void {
    // Informational responses precede the final one.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#isOver) return;
    const { maxResponseSize: limit, cutLargeResponse = false, onBytes } = this.#call;
    if (this.#size + piece.length > limit && cutLargeResponse) {
      this.#pieces.push(piece.subarray(0, limit - this.#size));
      this.#isOver = true;
      this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces), isCut: true });
      controller.abort(new CallIsOver());
      return;
    }
    this.#size += piece.length;
    if (this.#size > limit || onBytes?.(piece.length) === false) {
      this.fail(new OutboundError('too-large', `the answer is larger than ${limit} bytes`));
      return;
    }
    this.#pieces.push(piece);
    const reserved = this.#call.reserveMemory?.(piece.length) ?? null;
    if (reserved === null) return;
    controller.pause();
    void reserved.then(() => {
      if (!this.#isOver) controller.resume();
    });
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const [first] = this.#pieces;
    const body = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces, this.#size);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }
}

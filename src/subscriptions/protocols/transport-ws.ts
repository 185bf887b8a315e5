/** The protocol `graphql-transport-ws`: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
import type { SvcError } from '../../errors/svc-error.ts';
import type { Bytes } from '../../util/bytes.ts';
import { type ClientMessage, close, closeWithMessage, type Effect, encodeErrors, printMessage, send, unknownType } from './protocol.ts';
import { WebsocketProtocol } from './websocket-protocol.ts';

const TYPES = ['connection_init', 'ping', 'pong', 'subscribe', 'complete'] as const;

export class TransportWs extends WebsocketProtocol {
  readonly name = 'graphql-transport-ws';
  readonly keepAlive = KEEP_ALIVE;
  #phase: 'new' | 'authenticating' | 'open' = 'new';

  constructor() {
    super('next');
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  protected take(message: ClientMessage, isTaken: (id: string) => boolean): readonly Effect[] {
    switch (message.type) {
      case 'connection_init': {
        if (this.#phase !== 'new') return [close(4429, 'Too many initialisation requests')];
        const { headers } = message;
        this.#phase = 'authenticating';
        return [{ kind: 'authenticate', headers, alone: false }];
      }
      case 'ping': {
        const { payload } = message;
        return [send({ type: 'pong', ...(payload === null ? {} : { payload }) })];
      }
      case 'pong':
        return [];
      case 'subscribe': {
        const { id, request } = message;
        if (!this.isOpen) return [close(4401, 'Unauthorized')];
        if (isTaken(id)) return [close(4409, `Subscriber for ${id} already exists`)];
        return [{ kind: 'start', id, request }];
      }
      case 'complete':
        return [{ kind: 'stop', id: message.id }];
      default:
        throw unknownType(message.type, TYPES);
    }
  }

  garbled(reason: string): readonly Effect[] {
    return [closeWithMessage(4400, `Parsing client message failed: ${reason}`)];
  }

  accepted(): readonly Effect[] {
    this.#phase = 'open';
    return [send({ type: 'connection_ack' })];
  }

  refused({ remedies }: SvcError): readonly Effect[] {
    return [closeWithMessage(4403, 'Forbidden', remedies)];
  }

  initTimedOut(): readonly Effect[] {
    return [close(4408, 'Connection initialisation timed out')];
  }

  refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    // An `error` message ends the operation: no `complete` follows.
    return [printMessage({ type: 'error', id, payload: encodeErrors(errors) })];
  }

  failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    return this.refusedOperation(id, errors);
  }
}

const KEEP_ALIVE = printMessage({ type: 'ping', payload: { message: 'keepalive' } });

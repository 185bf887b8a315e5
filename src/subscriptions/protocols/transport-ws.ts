/** The protocol `graphql-transport-ws`: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md */
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { type Json, type JsonObject, printJson } from '../../util/json.ts';
import {
  ClientMessage,
  close,
  closeWithMessage,
  type Effect,
  encodeErrors,
  MessageFault,
  type Protocol,
  send,
  unknownType,
} from './protocol.ts';

const TYPES = ['connection_init', 'ping', 'pong', 'subscribe', 'complete'] as const;

export class TransportWs implements Protocol {
  readonly name = 'graphql-transport-ws';
  readonly keepAlive = KEEP_ALIVE;
  #phase: 'new' | 'authenticating' | 'open' = 'new';

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  receive(message: Json, isTaken: (id: string) => boolean): readonly Effect[] {
    try {
      return this.#receive(new ClientMessage(message), isTaken);
    } catch (fault) {
      if (fault instanceof MessageFault) return this.garbled(fault.message);
      throw fault;
    }
  }

  #receive(message: ClientMessage, isTaken: (id: string) => boolean): readonly Effect[] {
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

  refused(): readonly Effect[] {
    return [closeWithMessage(4403, 'Forbidden')];
  }

  initTimedOut(): readonly Effect[] {
    return [close(4408, 'Connection initialisation timed out')];
  }

  answerStart(id: string): Bytes {
    return bytesOfText(`{"type":"next","id":${JSON.stringify(id)},"payload":`);
  }

  completed(id: string): Bytes {
    return print({ type: 'complete', id });
  }

  refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    // It ends the operation: nothing follows.
    return [print({ type: 'error', id, payload: encodeErrors(errors) })];
  }

  failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    return this.refusedOperation(id, errors);
  }

  interrupted(id: string, errors: readonly SvcError[]): Bytes {
    return print({ type: 'next', id, payload: { errors: encodeErrors(errors) } });
  }
}

function print(message: JsonObject): Bytes {
  return bytesOfText(printJson(message));
}

const KEEP_ALIVE = print({ type: 'ping', payload: { message: 'keepalive' } });

/** The messages that both websocket protocols share, under different names. */
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import type { Json } from '../../util/json.ts';
import { ClientMessage, type Effect, encodeErrors, MessageFault, printMessage, type Protocol } from './protocol.ts';

export abstract class WebsocketProtocol implements Protocol {
  abstract readonly name: Protocol['name'];
  abstract readonly isOpen: boolean;
  abstract readonly keepAlive: Bytes;
  readonly #answer: string;

  /** @param answer the `type` of messages with answers */
  constructor(answer: 'next' | 'data') {
    this.#answer = answer;
  }

  receive(message: Json, isTaken: (id: string) => boolean): readonly Effect[] {
    try {
      return this.take(new ClientMessage(message), isTaken);
    } catch (fault) {
      if (fault instanceof MessageFault) return this.garbled(fault.message);
      throw fault;
    }
  }

  answerStart(id: string): Bytes {
    return bytesOfText(`{"type":"${this.#answer}","id":${JSON.stringify(id)},"payload":`);
  }

  completed(id: string): Bytes {
    return printMessage({ type: 'complete', id });
  }

  interrupted(id: string, errors: readonly SvcError[]): Bytes {
    return printMessage({ type: this.#answer, id, payload: { errors: encodeErrors(errors) } });
  }

  /** @throws MessageFault for an invalid message */
  protected abstract take(message: ClientMessage, isTaken: (id: string) => boolean): readonly Effect[];
  abstract garbled(reason: string): readonly Effect[];
  abstract accepted(): readonly Effect[];
  abstract refused(error: SvcError): readonly Effect[];
  abstract initTimedOut(): readonly Effect[];
  abstract refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
  abstract failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
}

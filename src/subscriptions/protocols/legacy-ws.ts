/** The older protocol `graphql-ws` of the package `subscriptions-transport-ws`, which many clients still use. */
import { encodeAdminError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Bytes } from '../../util/bytes.ts';
import type { JsonObject } from '../../util/json.ts';
import {
  type ClientMessage,
  close,
  closeWithMessage,
  type Effect,
  encodeErrors,
  printMessage,
  send,
  sendAll,
  unknownType,
} from './protocol.ts';
import { WebsocketProtocol } from './websocket-protocol.ts';

const TYPES = ['connection_init', 'start', 'stop', 'connection_terminate'] as const;

export class LegacyWs extends WebsocketProtocol {
  readonly name = 'graphql-ws';
  readonly keepAlive = KEEP_ALIVE;
  readonly #bareErrors: boolean;
  #isOpen = false;

  /** @param bareErrors if true, errors have the form `{path, error, code}`, and an operation that is rejected has a single one */
  constructor(bareErrors: boolean) {
    super('data');
    this.#bareErrors = bareErrors;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  protected take(message: ClientMessage, isTaken: (id: string) => boolean): readonly Effect[] {
    switch (message.type) {
      case 'connection_init':
        // A client may authenticate again; running operations keep their session.
        return [{ kind: 'authenticate', headers: message.headers, alone: this.#isOpen }];
      case 'start': {
        const { id, request } = message;
        if (!this.#isOpen) return this.#cannotStart(id, 'start received before the connection is initialised');
        if (isTaken(id)) {
          // Without `complete`, which would end the running operation of this id for the client.
          return [{ kind: 'send', message: this.#error(id, [cannotStart(`an operation already exists with this id: ${id}`)]) }];
        }
        return [{ kind: 'start', id, request }];
      }
      case 'stop':
        return [{ kind: 'stop', id: message.id }];
      case 'connection_terminate':
        return [close(1000, '')];
      default:
        throw unknownType(message.type, TYPES);
    }
  }

  garbled(reason: string): readonly Effect[] {
    return [send({ type: 'connection_error', payload: `parsing ClientMessage failed: ${reason}` })];
  }

  accepted(): readonly Effect[] {
    this.#isOpen = true;
    return [send({ type: 'connection_ack' }), { kind: 'send', message: KEEP_ALIVE }];
  }

  refused({ message, remedies }: SvcError): readonly Effect[] {
    this.#isOpen = false;
    const answer: JsonObject = { type: 'connection_error', payload: message };
    const suggestions = [...remedies];
    return [
      send(suggestions.length === 0 ? answer : { ...answer, suggestions }),
      closeWithMessage(4400, `Connection initialization failed: ${message}`),
    ];
  }

  initTimedOut(): readonly Effect[] {
    return [close(1011, 'Connection initialisation timed out')];
  }

  refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    return [this.#error(id, errors), this.completed(id)];
  }

  failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[] {
    const encoded = this.#bareErrors
      ? errors.flatMap((error) => error.graphqlErrors ?? [encodeAdminError(error, false)])
      : encodeErrors(errors);
    return [printMessage({ type: 'data', id, payload: { data: null, errors: encoded } }), this.completed(id)];
  }

  #error(id: string, errors: readonly SvcError[]): Bytes {
    const [first] = errors;
    const payload =
      this.#bareErrors && first !== undefined && first.graphqlErrors === undefined
        ? encodeAdminError(first, false)
        : { errors: encodeErrors(errors) };
    return printMessage({ type: 'error', id, payload });
  }

  #cannotStart(id: string, message: string): readonly Effect[] {
    return sendAll(this.refusedOperation(id, [cannotStart(message)]));
  }
}

function cannotStart(message: string): SvcError {
  return new SvcError('start-failed', message);
}

const KEEP_ALIVE = printMessage({ type: 'ka' });

import { Socket, type SocketConstructorOpts } from 'node:net';

/** One for all: what is read is used up before anything else is read. */
const BUFFER = Buffer.allocUnsafeSlow(65_536);

type Reader = (chunk: Buffer) => void;

/** `net.Socket` takes `onread` as `net.connect` does, which is all that the declarations know. */
type Options = SocketConstructorOpts & { readonly onread: { readonly buffer: Buffer; callback(size: number, buffer: Buffer): boolean } };

/**
 * A socket that always reads into the same memory instead of allocating for each read. Its `reader` gets
 * chunks that are valid until it returns; as long as there is none, `data` events carry copies.
 */
export class SharedBufferSocket extends Socket {
  reader: Reader | null = null;

  constructor() {
    const options: Options = {
      onread: {
        buffer: BUFFER,
        callback: (size, buffer) => {
          const chunk = buffer.subarray(0, size);
          if (this.reader !== null) this.reader(chunk);
          else this.emit('data', Buffer.from(chunk));
          return true;
        },
      },
    };
    super(options);
  }
}

/** Hands all that arrives to `reader`, which must not keep the chunks. */
export function readFrom(socket: Socket, reader: Reader): void {
  if (socket instanceof SharedBufferSocket) socket.reader = reader;
  else socket.on('data', reader);
}

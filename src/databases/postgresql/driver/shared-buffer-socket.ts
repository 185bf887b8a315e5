import { Socket, type SocketConstructorOpts } from 'node:net';

/** Buffer of all sockets: its contents are processed before the next read. */
const BUFFER = Buffer.allocUnsafeSlow(65_536);

type Reader = (chunk: Buffer) => void;

/** `net.Socket` accepts `onread` like `net.connect`, although its type does not declare it. */
type Options = SocketConstructorOpts & { readonly onread: { readonly buffer: Buffer; callback(size: number, buffer: Buffer): boolean } };

/**
 * A socket that reads into one buffer instead of allocating for each read. `reader` is called with chunks that are valid until it returns;
 * without a reader, `data` events have copies.
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

/** Calls `reader` with all data. It must not keep the chunks. */
export function readFrom(socket: Socket, reader: Reader): void {
  if (socket instanceof SharedBufferSocket) socket.reader = reader;
  else socket.on('data', reader);
}

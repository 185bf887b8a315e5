import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** HTTP over a raw socket, one request at a time: the work of a client library would count as the server's. */
export interface RawConnection {
  post(path: string, body: Buffer): Promise<RawAnswer>;
  close(): void;
}

export async function openRawConnection(url: string): Promise<RawConnection> {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    post: (path, body) =>
      new Promise((resolve) => {
        const chunks: Buffer[] = [];
        let received = 0;
        let expected = Number.POSITIVE_INFINITY;
        const onData = (chunk: Buffer): void => {
          if (chunks.length === 0) {
            const head = chunk.toString('latin1', 0, 4096);
            expected = head.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
          }
          chunks.push(chunk);
          received += chunk.length;
          if (received < expected) return;
          socket.off('data', onData);
          const text = Buffer.concat(chunks).toString();
          resolve({ status: Number(text.slice(9, 12)), text: text.slice(text.indexOf('\r\n\r\n') + 4) });
        };
        socket.on('data', onData);
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(body);
      }),
    close: () => socket.destroy(),
  };
}

import net from 'node:net';

export interface RefusingDatabase {
  readonly port: number;
  stop(): Promise<void>;
}

/** A scripted PostgreSQL server that requires a password and rejects all of them. */
export async function refusingDatabase(): Promise<RefusingDatabase> {
  const server = net.createServer((socket) => {
    let asked = false;
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data.length === 8 && data.readInt32BE(4) === 80877103) socket.write('N');
      else if (!asked) {
        asked = true;
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      } else {
        const fields = Buffer.from('SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "u"\0\0');
        const head = Buffer.alloc(5, 'E');
        head.writeInt32BE(fields.length + 4, 1);
        socket.end(Buffer.concat([head, fields]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

import { createServer } from 'node:net';

/** Returns a free port: the preferred one if it is free and not 0, otherwise any other. */
export async function chooseFreePort(host: string, preferred: number): Promise<number> {
  if (Number.isInteger(preferred) && preferred > 0 && preferred < 65_536) {
    try {
      return await tryPort(host, preferred);
    } catch {
      // taken: any other will do
    }
  }
  return tryPort(host, 0);
}

function tryPort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

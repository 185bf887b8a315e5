import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the system gives to whoever does not say which, so that none of these gets it before it is listened on. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** A port of the loopback address that nobody listens on, for a server that has to be told one, or that comes back at the same one. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    try {
      await tryPort(port);
      return port;
    } catch (error) {
      if (attempt === 100) throw error;
    }
  }
}

function tryPort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

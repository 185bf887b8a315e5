import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports, so that the system assigns none of these before the server listens. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** Returns a free port of the loopback address, for a server that needs a fixed port or restarts on the same one. */
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

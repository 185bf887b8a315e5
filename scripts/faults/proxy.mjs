/** Proxy in front of a server whose connections can be made to fail. */
import net from 'node:net';

/** Delay in both directions, in ms. */
const DELAY = 300;
/** Commit in a message of its own. */
const COMMIT = Buffer.from('commit\0');

export class FaultyProxy {
  #how = 'pass';
  #pairs = new Set();
  #server;
  #target;

  /** @param {string} url of the server */
  static async to(url) {
    const proxy = new FaultyProxy();
    proxy.#target = new URL(url);
    proxy.#server = net.createServer((client) => proxy.#join(client));
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    const own = new URL(url);
    own.hostname = '127.0.0.1';
    own.port = String(proxy.#server.address().port);
    proxy.url = own.href.replace(/\/$/, '');
    return proxy;
  }

  /**
   * @param {'pass' | 'cut' | 'delay' | 'swallow' | 'lose a commit'} how `cut` refuses connections, `swallow` loses answers, and
   *   `lose a commit` lets the next commit through, loses its answer and then cuts
   */
  set(how) {
    const before = this.#how;
    this.#how = how;
    // Connections that have lost data cannot continue.
    if (how === 'cut' || before === 'swallow') this.#breakAll();
  }

  stop() {
    this.#breakAll();
    this.#server.close();
  }

  #breakAll() {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #join(client) {
    if (this.#how === 'cut') return void client.on('error', () => undefined).destroy();
    const upstream = net.connect(Number(this.#target.port), this.#target.hostname);
    const pair = [client, upstream];
    this.#pairs.add(pair);
    let isLosing = false;
    // Data after delayed data is delayed too.
    const pending = new Map(pair.map((socket) => [socket, 0]));
    const send = (to, chunk) => {
      const before = pending.get(to);
      if (this.#how !== 'delay' && before === 0) return void to.write(chunk);
      pending.set(to, before + 1);
      setTimeout(() => {
        pending.set(to, pending.get(to) - 1);
        if (to.writable) to.write(chunk);
      }, DELAY);
    };
    client.on('data', (chunk) => {
      isLosing ||= this.#how === 'lose a commit' && chunk.includes(COMMIT);
      send(upstream, chunk);
    });
    upstream.on('data', (chunk) => {
      if (isLosing) this.set('cut');
      else if (this.#how !== 'swallow') send(client, chunk);
    });
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  }
}

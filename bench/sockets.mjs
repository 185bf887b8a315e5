// Measures the cost of idle websockets, and whether the service recovers from misbehaving clients.
//
//   npm run storm -- [--database-url postgres://…empty database] [--sockets 10000] [--seconds 30] [--rounds 3] [--only idle|storm]
//
// idle:  opens --sockets websockets with a subscription each for --seconds. Prints the additional resident memory per socket, CPU of the service
//        per second, and the number of closed sockets.
// storm: rounds of clients that never read, send garbage, start an id twice, send half a message, vanish, or come and go, while ordinary
//        clients continue. Prints memory and open files before and after.
//
// Exit code 1: a socket was closed that should have stayed open, a client got no response, files stayed open, or memory was not released. Needs
// `ulimit -n` well above --sockets.
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuOf, databaseServer, memoryOf, operate, post, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    sockets: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const PORT = 18_091;
let service = null;
let failed = false;
/** Maximum memory after a storm, as a factor of the memory at the start. */
const MORE = 1.4;

const resident = () => memoryOf(service.pid);
const openFiles = () => fs.readdirSync(`/proc/${service.pid}/fd`).length;
const megabytes = (bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`;

/** Frame of a client, masked with zeros, which is cheaper and works as well. */
function frame(text, opcode = 1) {
  const data = Buffer.from(text);
  const size = data.length;
  const head =
    size < 126
      ? Buffer.from([0x80 | opcode, 0x80 | size])
      : size < 65_536
        ? Buffer.from([0x80 | opcode, 0xfe, size >> 8, size & 255])
        : Buffer.from([0x80 | opcode, 0xff, 0, 0, 0, 0, size >>> 24, (size >> 16) & 255, (size >> 8) & 255, size & 255]);
  return Buffer.concat([head, Buffer.alloc(4), data]);
}

const HANDSHAKE = `GET /v1/graphql HTTP/1.1\r\nHost: 127.0.0.1:${PORT}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nUser-Agent: a client with a name of about this length\r\nAccept-Language: en\r\n\r\n`;
const INIT = frame('{"type":"connection_init","payload":{"headers":{"x-svc-role":"user","x-svc-user-id":"1"}}}');
const start = (id, query) => frame(JSON.stringify({ type: 'subscribe', id, payload: { query } }));

/** Opens a socket and authenticates. @returns the socket, which answers pings; `text` collects received text */
function client(collect = false) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(PORT, '127.0.0.1');
    socket.on('error', reject);
    socket.text = '';
    socket.once('connect', () => socket.write(Buffer.concat([Buffer.from(HANDSHAKE), INIT])));
    let isOpen = false;
    socket.on('data', (chunk) => {
      // The service sends keep-alive pings as separate frames.
      if (chunk[0] === 0x89) socket.write(frame('', 10));
      const text = chunk.toString('latin1');
      if (text.includes('"ping"')) socket.write(frame('{"type":"pong"}'));
      if (isOpen && !collect) return;
      socket.text += text;
      if (!isOpen && socket.text.includes('connection_ack')) {
        isOpen = true;
        resolve(socket);
      }
    });
    socket.once('close', () => reject(new Error(`closed: ${socket.text.slice(-200)}`)));
  });
}

async function many(count, make, atATime = 100) {
  const made = [];
  for (let i = 0; i < count; i += atATime) {
    made.push(...(await Promise.all(Array.from({ length: Math.min(atATime, count - i) }, (_, k) => make(i + k)))));
  }
  return made;
}

async function idle() {
  const count = Number(options.sockets);
  const seconds = Number(options.seconds);
  // Code that the first sockets load stays in memory.
  for (const socket of await many(200, () => subscribed('1'))) socket.destroy();
  await sleep(2000);
  const before = { memory: resident(), files: openFiles() };
  let closed = 0;
  const sockets = await many(count, () => subscribed('1'));
  for (const socket of sockets) socket.once('close', () => (closed += 1));
  await sleep(5000);
  const used = cpuOf(service.pid);
  const started = performance.now();
  let peak = 0;
  while (performance.now() - started < seconds * 1000) {
    await sleep(1000);
    peak = Math.max(peak, resident());
  }
  const cpuShare = (cpuOf(service.pid) - used) / ((performance.now() - started) / 1000);
  const each = (peak - before.memory) / count / 1024;
  console.log(
    `idle: ${count} sockets, ${seconds} s: ${each.toFixed(1)} KB each above the start, CPU ${cpuShare.toFixed(1)} ms/s, ${closed} closed`,
  );
  if (closed > 0) failed = true;
  for (const socket of sockets) {
    socket.removeAllListeners('close');
    socket.destroy();
  }
  await settled(before, 'idle');
}

async function subscribed(id) {
  const socket = await client();
  socket.write(start(id, 'subscription { item { id } }'));
  return socket;
}

/** Waits until all sockets are closed, and prints the remaining memory and files. */
async function settled(before, name) {
  for (let i = 0; i < 100 && openFiles() > before.files + 5; i++) await sleep(100);
  await sleep(3000);
  const files = openFiles();
  console.log(`${name}: afterwards ${megabytes(resident())} (before ${megabytes(before.memory)}), ${files} files (before ${before.files})`);
  if (files > before.files + 5) failed = true;
}

const MISBEHAVIOURS = {
  async neverReads() {
    const socket = await client();
    socket.pause();
    for (let i = 0; i < 200; i++) socket.write(start(String(i), '{ wide { text } }'));
    return socket;
  },
  async garbage() {
    const socket = await client();
    for (let i = 0; i < 20; i++) socket.write(frame('{"type":'.repeat(i)));
    socket.write(Buffer.alloc(1000, 0xff));
    return socket;
  },
  async twice() {
    const socket = await client();
    for (let i = 0; i < 5; i++) socket.write(start('same', 'subscription { item { id } }'));
    return socket;
  },
  async halfAMessage() {
    const socket = await client();
    socket.write(frame(`{"type":"ping","payload":{"of":"${'x'.repeat(500_000)}"}}`).subarray(0, 400_000));
    return socket;
  },
  async vanishes() {
    const socket = await subscribed('1');
    socket.resetAndDestroy();
    return socket;
  },
  async comesAndGoes() {
    const socket = await client();
    for (let i = 0; i < 50; i++) {
      socket.write(start(String(i), 'subscription { item { id } }'));
      socket.write(frame(JSON.stringify({ type: 'complete', id: String(i) })));
    }
    return socket;
  },
};

async function storm() {
  const rounds = Number(options.rounds);
  const each = 50;
  const before = { memory: resident(), files: openFiles() };
  for (let round = 0; round < rounds; round++) {
    const sockets = [];
    for (const misbehave of Object.values(MISBEHAVIOURS)) sockets.push(...(await many(each, () => misbehave().catch(() => null))));
    for (const socket of sockets) socket?.on('error', () => undefined);
    const good = await client(true);
    good.write(start('good', '{ item { id } }'));
    for (let i = 0; i < 200 && !good.text.includes('"complete"'); i++) await sleep(50);
    if (!good.text.includes('"complete"')) {
      console.log('storm: a well-behaved client got no response within 10 s');
      failed = true;
    }
    console.log(`storm: round ${round + 1}: ${megabytes(resident())}, ${openFiles()} files`);
    good.removeAllListeners('close');
    good.destroy();
    for (const socket of sockets) {
      socket?.removeAllListeners('close');
      socket?.destroy();
    }
    await settled(before, 'storm');
  }
  // The service collects its heap while it is idle.
  const enough = before.memory * MORE;
  for (let i = 0; i < 60 && resident() > enough; i++) await sleep(1000);
  console.log(`storm: a while later ${megabytes(resident())} (before ${megabytes(before.memory)})`);
  if (resident() > enough) failed = true;
}

async function main() {
  // Few connections, so that open files are mostly sockets of clients.
  const env = { SVC_GRAPHQL_PG_CONNECTIONS: '4' };
  service = await startService({ port: PORT, databaseUrl: await databaseServer(options['database-url']), env });
  const sql =
    "create table item (id int primary key); insert into item values (1); create table wide (text text); insert into wide select repeat('x', 10000) from generate_series(1, 20)";
  await post(`http://127.0.0.1:${PORT}/v2/query`, JSON.stringify({ type: 'run_sql', args: { sql } }));
  for (const table of ['item', 'wide']) {
    await operate(PORT, 'pg_track_table', { table });
    const permission = { columns: '*', filter: {} };
    await operate(PORT, 'pg_create_select_permission', { table, role: 'user', permission });
  }
  if (options.only !== 'storm') await idle();
  if (options.only !== 'idle') await storm();
}

await run(main);
process.exit(failed ? 1 : process.exitCode);

// Sends requests of four clients, each sequentially, until it receives a stop message. Runs in a separate thread with minimal code, so that
// other work of the process does not affect the measurement.
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, body, headers } = workerData;
const agent = new http.Agent({ keepAlive: true });
const waits = [];
let failed = 0;
let going = true;
parentPort.once('message', () => {
  going = false;
});

function request(extra) {
  return new Promise((resolve) => {
    const sent = http.request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...extra } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(response.statusCode === 200 && text.startsWith('{"data"')));
      },
    );
    sent.on('error', () => resolve(false));
    sent.end(body);
  });
}

async function client(extra) {
  while (going) {
    const started = performance.now();
    const ok = await request(extra);
    if (ok) waits.push(performance.now() - started);
    else failed++;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

await Promise.all(headers.map(client));
agent.destroy();
parentPort.postMessage({ waits, failed });

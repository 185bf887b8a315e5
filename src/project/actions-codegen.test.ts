import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { actionHandler } from './actions-codegen.ts';

/** Sends a POST whose body comes in these parts, each behind a pause in which the other side can read. @returns the body of the answer */
function post(port: number, parts: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => (answer += part));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)));
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`);
    const send = (i: number): void => {
      const part = parts[i];
      if (part !== undefined) socket.write(part, () => setTimeout(send, 20, i + 1));
    };
    send(0);
  });
}

it('writes a handler for node that keeps characters which two parts of a body share', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-codegen-'));
  try {
    const file = join(folder, 'greet.ts');
    writeFileSync(file, actionHandler({ name: 'greet' }, 'node') ?? '');
    const { server } = (await import(/* @vite-ignore */ file)) as { readonly server: Server };
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const body = Buffer.from(JSON.stringify({ input: { name: 'Zoë' }, session_variables: {} }));
    const middle = body.indexOf('ë') + 1;
    const answer = await post((server.address() as AddressInfo).port, [body.subarray(0, middle), body.subarray(middle)]);
    server.close();
    expect(JSON.parse(answer)).toEqual({
      message: 'greet is not written yet: {"input":{"name":"Zoë"},"session_variables":{}}',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

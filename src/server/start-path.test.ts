import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { receiveRequests } from './start-path.ts';

it('marks requests below the start path until it is closed', async () => {
  const server = createServer();
  const close = receiveRequests(server, '/secret', (request, response, isOwn) => void response.end(JSON.stringify([request.url, isOwn])));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const read = async (path: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
  try {
    expect(await read('/secret/v1/metadata?a=b')).toEqual(['/v1/metadata?a=b', true]);
    expect(await read('/v1/metadata')).toEqual(['/v1/metadata', false]);
    expect(await read('/secrets/v1/metadata')).toEqual(['/secrets/v1/metadata', false]);
    close();
    expect(await read('/secret/v1/metadata')).toEqual(['/secret/v1/metadata', false]);
  } finally {
    server.close();
  }
});

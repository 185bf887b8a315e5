import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** Status for a header of that length; null if the server closed the connection during the request. */
async function statusFor(length: number): Promise<number | null> {
  const sent = service?.send('/healthz', { headers: { 'x-filler': 'x'.repeat(length) } });
  return (await sent?.catch(() => null))?.status ?? null;
}

describe('--max-total-header-length', () => {
  it.runIf(DEEP)('defaults to 16 KiB', async () => {
    service = await startTestService();
    expect(await statusFor(12_000)).toBe(200);
    expect([431, null]).toContain(await statusFor(20_000));
  });

  it.runIf(DEEP)('permits longer headers up to the limit', async () => {
    service = await startTestService({ MAX_TOTAL_HEADER_LENGTH: '100000' });
    expect(await statusFor(90_000)).toBe(200);
    expect([431, null]).toContain(await statusFor(110_000));
  });

  it('rejects longer headers than a lower limit', async () => {
    service = await startTestService({ MAX_TOTAL_HEADER_LENGTH: '2000' });
    expect(await statusFor(1000)).toBe(200);
    expect(await statusFor(3000)).toBe(431);
  });

  it.runIf(DEEP)('counts separators and rejects a repeated Host header, for websockets too', async () => {
    service = await startTestService();
    const { port, hostname } = new URL(service.url);
    const answerTo = async (path: string, headers: string): Promise<string> => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket
        .on('error', () => undefined)
        .on('data', (chunk) => {
          text += chunk.toString();
          if (text.includes('\r\n')) socket.destroy();
        });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
      await new Promise((resolve) => socket.once('close', resolve));
      return text.split('\r\n', 1)[0] ?? '';
    };
    // Names and values have 4000 bytes.
    const many = 'a:\r\n'.repeat(4000);
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    expect(await answerTo('/healthz', many)).toContain('431');
    expect(await answerTo('/nowhere', many)).toContain('431');
    expect(await answerTo('/v1/graphql', upgrade + many)).toContain('431');
    expect(await answerTo('/v1/graphql', upgrade)).toContain('101');
    // A proxy may have read the other Host.
    expect(await answerTo('/healthz', 'host: localhost\r\n')).toContain('400');
    expect(await answerTo('/v1/graphql', `HOST: x\r\n${upgrade}`)).toContain('400');
    expect(await answerTo('/healthz', '')).toContain('200');
  });

  it.runIf(DEEP)('is the only limit: no header is dropped because of their number', async () => {
    service = await startTestService();
    const { port, hostname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    const body = '{"type":"export_metadata","args":{}}';
    const role = 'X-Svc-Role: user\r\nConnection: close\r\n';
    socket.write(`POST /v1/metadata HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${'a:\r\n'.repeat(3000)}${role}\r\n${body}`);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toContain('restricted access : admin only');
  });

  it.runIf(DEEP)('does not allow more values in a URL than in a body', async () => {
    service = await startTestService({ MAX_TOTAL_HEADER_LENGTH: '1000000', REQUEST_VALUE_LIMIT: '1000' });
    const url = (values: number): string => `/v1/graphql?query={__typename}&extensions={"a":[${Array(values).fill('1').join(',')}]}`;
    expect((await service.send(url(500))).json).toEqual({ data: { __typename: 'query_root' } });
    expect((await service.send(url(5000))).json).toMatchObject({
      errors: [{ extensions: { path: '$.extensions', code: 'invalid-json' } }],
    });
  });
});

/** Sends replies: their headers, compressed or plain, whole or streamed. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { SvcError } from '../errors/svc-error.ts';
import { bytesOfBuffer, piecesOf, wholeBytes } from '../util/bytes.ts';
import { chooseEncoding, compress, compressor, isWorthIt, type Encoding } from './compression.ts';
import type { MemoryInUse, PendingResponses } from './pending-responses.ts';
import type { Reply } from './reply.ts';
import { STREAMED, stream } from './streamed.ts';

/** Maximum size of a body that is sent in one piece with its headers, in bytes: one copy is cheaper than several writes. */
const ONE_PIECE = 65_536;

export interface Sending {
  readonly requestId: string;
  readonly cors: Record<string, string> | null;
  readonly cookies: readonly string[] | null;
  readonly sent: Sent;
  readonly pending: PendingResponses;
  /** Memory of the body. */
  readonly memory: MemoryInUse;
  /** The connection closes after the response. */
  readonly isLast: boolean;
}

/** Result of sending, for the log. */
export interface Sent {
  size: number;
  encoding: string | null;
  error: SvcError | null;
}

/** Writes a reply and updates `sending.sent`. Resolves before the client has read all of it. */
export async function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply, sending: Sending): Promise<void> {
  if (response.destroyed) return;
  const { sent } = sending;
  const headers = headersOf(reply, sending);
  if (reply.events !== undefined) {
    delete headers['Content-Length'];
    response.writeHead(reply.status, headers);
    Object.assign(sent, await reply.events(response, request.socket));
    return;
  }
  if (reply.status === 304) {
    delete headers['Content-Length'];
    delete headers['Content-Type'];
    response.writeHead(304, headers).end();
    return;
  }
  if (reply.encoding !== undefined) {
    sent.encoding = reply.encoding;
    headers['Content-Encoding'] = reply.encoding;
    response.writeHead(reply.status, headers);
    response.end(wholeBytes(reply.body).join(''), 'latin1');
    return;
  }
  const choice = chooseEncoding(request.headers['accept-encoding']);
  if (reply.error === undefined && choice.encoding !== null && isWorthIt(sent.size, choice)) {
    await sendCompressed(request, response, reply, sending, headers, choice.encoding);
    return;
  }
  const streamed = sendPlain(request, response, reply, sending, headers);
  if (streamed !== null) await streamed;
}

function headersOf(reply: Reply, { requestId, cors, cookies, sent, isLast }: Sending): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'Content-Type': reply.contentType,
    'Content-Length': sent.size,
    'X-Request-Id': requestId,
  };
  if (isLast) headers['Connection'] = 'close';
  if (cors !== null) Object.assign(headers, cors);
  if (cookies !== null && cookies.length > 0) headers['Set-Cookie'] = [...cookies];
  if (reply.headers !== undefined) {
    const vary = headers['Vary'];
    Object.assign(headers, reply.headers);
    // Browsers accept no credentials for all origins.
    if (headers['Access-Control-Allow-Origin'] === '*') delete headers['Access-Control-Allow-Credentials'];
    if (reply.isPublic === true) delete headers['X-Request-Id'];
    else if (vary !== undefined && reply.headers['Vary'] !== undefined) headers['Vary'] = `${vary}, ${reply.headers['Vary']}`;
  }
  return headers;
}

async function sendCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, copies }: Reply,
  { sent, pending, memory }: Sending,
  headers: OutgoingHttpHeaders,
  encoding: Encoding,
): Promise<void> {
  sent.encoding = encoding;
  headers['Content-Encoding'] = encoding;
  headers['Vary'] = varyByEncoding(headers['Vary']);
  const cached = copies?.get(encoding);
  // A copy that is kept has to be whole.
  if (cached === undefined && copies === undefined && sent.size > STREAMED) {
    delete headers['Content-Length'];
    response.writeHead(status, headers);
    sent.size = await stream(body, response, request.socket, pending, sent.size, compressor(sent.size, encoding), memory);
    return;
  }
  const compressed = cached ?? (await compress(body, sent.size, encoding));
  if (typeof compressed !== 'string') copies?.store(encoding, bytesOfBuffer(compressed, 0, compressed.length));
  sent.size = compressed.length;
  headers['Content-Length'] = compressed.length;
  response.writeHead(status, headers);
  if (typeof compressed === 'string') response.end(compressed, 'latin1');
  else response.end(compressed);
}

/** Returns `null` if the response is written at once, without a promise. */
function sendPlain(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body }: Reply,
  { sent, pending, memory }: Sending,
  headers: OutgoingHttpHeaders,
): Promise<unknown> | null {
  response.writeHead(status, headers);
  if (sent.size < ONE_PIECE) {
    response.end(body.length === 1 && typeof body[0] === 'string' ? body[0] : wholeBytes(body).join(''), 'latin1');
    return null;
  }
  if (sent.size > STREAMED) return stream(body, response, request.socket, pending, sent.size, null, memory);
  response.cork();
  for (const piece of piecesOf(body)) response.write(piece, 'latin1');
  response.end();
  response.uncork();
  return null;
}

function varyByEncoding(vary: OutgoingHttpHeaders[string]): string {
  if (vary === undefined) return 'Accept-Encoding';
  const text = String(vary);
  return text.includes('Accept-Encoding') ? text : `${text}, Accept-Encoding`;
}

import type { OutboundResponse } from '../http-client/request.ts';

/** Characters that a header value may have. */
const HEADER_TEXT = /^[\t -~\u0080-\u00ff]*$/;

/** Returns the `Set-Cookie` values of a response for the client, without those that are not valid headers. */
export function cookiesOf({ headers }: Pick<OutboundResponse, 'headers'>): readonly string[] {
  const cookies = headers['set-cookie'];
  return cookies === undefined ? [] : [cookies].flat().filter((cookie) => HEADER_TEXT.test(cookie));
}

import type { OutboundResponse } from '../http-client/request.ts';

/** What a header of an answer may hold. */
const HEADER_TEXT = /^[\t -~\u0080-\u00ff]*$/;

/** Values of `Set-Cookie` headers of an answer, for the client; what no header can hold is left out. */
export function cookiesOf({ headers }: Pick<OutboundResponse, 'headers'>): readonly string[] {
  const cookies = headers['set-cookie'];
  return cookies === undefined ? [] : [cookies].flat().filter((cookie) => HEADER_TEXT.test(cookie));
}

import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-svc-signature';

/**
 * The value of the header of a call with this body: `t=<seconds>,v1=<hex>`, an HMAC-SHA256 over the time, a full
 * stop and the body. The time is in it so that a receiver can refuse a call that somebody has kept and sends again.
 * @param seconds since 1970
 */
export function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

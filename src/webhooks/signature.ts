import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'x-svc-signature';

/**
 * Returns the signature header for a body: `t=<seconds>,v1=<hex>`, an HMAC-SHA256 over the time, a full stop and the body. The time lets a
 * receiver reject replayed calls.
 * @param seconds since 1970
 */
export function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

import { toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { bytesOfText } from '../../util/bytes.ts';
import type { Route } from '../context.ts';
import { checkPage } from '../cross-site.ts';
import { adminErrorReply, notFoundReply } from '../reply.ts';

const BEARER = /^Bearer +(\S+) *$/i;

/** The endpoint for Prometheus. It has its own secret, so that monitoring needs no admin secret. */
export const metricsRoute: Route = {
  method: 'GET',
  path: '/v1/metrics',
  api: 'metrics',
  isProbe: true,
  isPublic: true,
  async handle(exchange, { metrics, pages, observe }) {
    if (metrics === null) return notFoundReply();
    try {
      if (metrics.isOpen) checkPage('GET', exchange.request.headers, exchange.place, pages);
      else if (!metrics.admits(BEARER.exec(exchange.request.headers.authorization ?? '')?.[1] ?? '')) {
        const error = new SvcError('access-denied', 'the metrics require their secret: Authorization: Bearer <secret>', { status: 401 });
        return { ...adminErrorReply(error, false), headers: { 'WWW-Authenticate': 'Bearer' } };
      }
      const { contentType, text } = metrics.page;
      return { status: 200, contentType, body: [bytesOfText(await text())], headers: { 'Cache-Control': 'no-store' } };
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) observe({ kind: 'unexpected', message: 'the metrics cannot be collected', error: thrown });
      return adminErrorReply(toSvcError(thrown), false);
    }
  },
};

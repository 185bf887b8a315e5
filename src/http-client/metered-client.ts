import { METRICS } from '../observability/metrics/definitions.ts';
import type { Histogram } from '../observability/metrics/histogram.ts';
import type { Counting } from '../observability/metrics/counting.ts';
import type { Counter, MetricDefinition, Registry } from '../observability/metrics/registry.ts';
import type { OutboundClient } from './client.ts';
import { OutboundError } from './outbound-error.ts';
import type { CallKind } from './request.ts';

type Name = CallKind | 'other';

/** Metrics of body sizes, by the purpose of the call. */
const BODIES: Readonly<Partial<Record<Name, { readonly sent: MetricDefinition; readonly received: MetricDefinition }>>> = {
  action: { sent: METRICS.actionRequestBytes, received: METRICS.actionResponseBytes },
  event: { sent: METRICS.eventRequestBytes, received: METRICS.eventResponseBytes },
  cron: { sent: METRICS.scheduledRequestBytes, received: METRICS.scheduledResponseBytes },
  oneoff: { sent: METRICS.scheduledRequestBytes, received: METRICS.scheduledResponseBytes },
};

interface CallMetrics {
  readonly time: Histogram;
  readonly byStatus: Map<string, Counter>;
  readonly sent: Counter | null;
  readonly received: Counter | null;
}

/** Wraps a client: counts its calls by purpose while metrics are on. */
export function meteredClient(client: OutboundClient, registry: Registry, counting: Counting): OutboundClient {
  const byName = new Map<Name, CallMetrics>();
  const metricsOf = (name: Name): CallMetrics => {
    let metrics = byName.get(name);
    if (metrics === undefined) {
      const bodies = BODIES[name];
      metrics = {
        time: registry.histogram(METRICS.outboundDuration, name),
        byStatus: new Map(),
        sent: bodies === undefined ? null : registry.counter(bodies.sent),
        received: bodies === undefined ? null : registry.counter(bodies.received),
      };
      byName.set(name, metrics);
    }
    return metrics;
  };
  const count = (name: Name, { time, byStatus }: CallMetrics, status: string, began: number): void => {
    let counter = byStatus.get(status);
    if (counter === undefined) {
      counter = registry.counter(METRICS.outboundRequests, name, status);
      byStatus.set(status, counter);
    }
    counter.add();
    time.observe((performance.now() - began) / 1000);
  };
  return {
    async send(call) {
      if (!counting.isOn) return client.send(call);
      const began = performance.now();
      const name = call.kind ?? 'other';
      const metrics = metricsOf(name);
      if (call.body !== undefined) metrics.sent?.add(typeof call.body === 'string' ? Buffer.byteLength(call.body) : call.body.length);
      try {
        const response = await client.send(call);
        metrics.received?.add(response.body.length);
        count(name, metrics, `${Math.floor(response.status / 100)}xx`, began);
        return response;
      } catch (error) {
        count(name, metrics, error instanceof OutboundError && error.failure === 'refused-address' ? 'blocked' : 'failed', began);
        throw error;
      }
    },
    close: () => client.close(),
  };
}

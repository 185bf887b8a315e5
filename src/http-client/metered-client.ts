import { METRICS } from '../observability/metrics/definitions.ts';
import type { Histogram } from '../observability/metrics/histogram.ts';
import type { Counting } from '../observability/metrics/counting.ts';
import type { Counter, MetricDefinition, Registry } from '../observability/metrics/registry.ts';
import type { OutboundClient } from './client.ts';
import { OutboundError } from './outbound-error.ts';
import type { CallKind } from './request.ts';

type Name = CallKind | 'other';

/** Bodies that are counted, by what they are sent for. */
const BODIES: Readonly<Partial<Record<Name, { readonly sent: MetricDefinition; readonly received: MetricDefinition }>>> = {
  action: { sent: METRICS.actionRequestBytes, received: METRICS.actionResponseBytes },
  event: { sent: METRICS.eventRequestBytes, received: METRICS.eventResponseBytes },
  cron: { sent: METRICS.scheduledRequestBytes, received: METRICS.scheduledResponseBytes },
  oneoff: { sent: METRICS.scheduledRequestBytes, received: METRICS.scheduledResponseBytes },
};

interface Cells {
  readonly time: Histogram;
  readonly byStatus: Map<string, Counter>;
  readonly sent: Counter | null;
  readonly received: Counter | null;
}

/** The same client; its calls are counted by what they are for, while somebody wants to know. */
export function meteredClient(client: OutboundClient, registry: Registry, counting: Counting): OutboundClient {
  const known = new Map<Name, Cells>();
  const cellsOf = (name: Name): Cells => {
    let cells = known.get(name);
    if (cells === undefined) {
      const bodies = BODIES[name];
      cells = {
        time: registry.histogram(METRICS.outboundDuration, name),
        byStatus: new Map(),
        sent: bodies === undefined ? null : registry.counter(bodies.sent),
        received: bodies === undefined ? null : registry.counter(bodies.received),
      };
      known.set(name, cells);
    }
    return cells;
  };
  const count = (name: Name, { time, byStatus }: Cells, status: string, began: number): void => {
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
      const cells = cellsOf(name);
      if (call.body !== undefined) cells.sent?.add(typeof call.body === 'string' ? Buffer.byteLength(call.body) : call.body.length);
      try {
        const answer = await client.send(call);
        cells.received?.add(answer.body.length);
        count(name, cells, `${Math.floor(answer.status / 100)}xx`, began);
        return answer;
      } catch (error) {
        count(name, cells, error instanceof OutboundError && error.failure === 'refused-address' ? 'blocked' : 'failed', began);
        throw error;
      }
    },
    close: () => client.close(),
  };
}

import { METRICS } from '../observability/metrics/definitions.ts';
import type { Registry } from '../observability/metrics/registry.ts';
import type { CallKind, OutboundClient } from './client.ts';
import { OutboundError } from './outbound-error.ts';

/** The same client; its calls are counted by what they are for. */
export function meteredClient(client: OutboundClient, registry: Registry): OutboundClient {
  const count = (kind: CallKind | undefined, status: string, began: number): void => {
    const name = kind ?? 'other';
    registry.counter(METRICS.outboundRequests, name, status).add();
    registry.histogram(METRICS.outboundDuration, name).observe((performance.now() - began) / 1000);
  };
  return {
    async send(call) {
      const began = performance.now();
      try {
        const answer = await client.send(call);
        count(call.kind, `${Math.floor(answer.status / 100)}xx`, began);
        return answer;
      } catch (error) {
        count(call.kind, error instanceof OutboundError && error.failure === 'refused-address' ? 'blocked' : 'failed', began);
        throw error;
      }
    },
    close: () => client.close(),
  };
}

import type { PollerReport } from './poller-report.ts';
import type { PollerObservation, RunTimes } from '../observability/observation.ts';

/** Describes one run of a poller for the log. */
export function runObservation(poller: PollerReport, times: RunTimes): PollerObservation {
  const { id, kind, source, role, subscribers, cohorts, sql, batchSize, refetchIntervalMs } = poller;
  return { kind: 'poller', pollerId: id, of: kind, source, role, subscribers, cohorts, sql, batchSize, refetchIntervalMs, times };
}

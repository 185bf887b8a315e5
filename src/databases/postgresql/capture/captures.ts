import type { Source } from '../../../backend/backend.ts';
import type { Captures } from '../../../backend/captures.ts';
import { cleanUp } from '../../shared/capture/cleanup.ts';
import { backlog } from './backlog.ts';
import { cleanupPlan, removeBatch } from './cleanup.ts';
import { type CaptureOptions, install, isTaken, retain, uninstall } from './install.ts';
import { eventLog } from './log.ts';
import { timeLimited } from './time-limits.ts';
import { PostgresqlEventQueue, type EventQueueOptions } from './queue.ts';

export interface PostgresqlCaptureOptions extends CaptureOptions, EventQueueOptions {}

/** Event triggers of a PostgreSQL database. */
export function postgresqlCaptures(database: Source, captureOptions: PostgresqlCaptureOptions): Captures {
  const source = timeLimited(database);
  return {
    ...eventLog(source),
    ...cleanupPlan(source),
    events: new PostgresqlEventQueue(database, captureOptions),
    install: (triggers, options) => install(source, triggers, options, captureOptions),
    retain: (definitions, options) => retain(source, definitions, options),
    uninstall: (owner) => uninstall(source, owner),
    isTaken: (name, owner) => isTaken(source, name, owner),
    backlog: (options) => backlog(database, options),
    cleanUp: (spec, options) => cleanUp(spec, options, (...batch) => removeBatch(source, ...batch)),
  };
}

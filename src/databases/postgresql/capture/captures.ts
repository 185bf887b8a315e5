import type { Source } from '../../../backend/backend.ts';
import type { Captures } from '../../../backend/captures.ts';
import { capturesOf } from '../../shared/captures-of.ts';
import { backlog } from './backlog.ts';
import { CleanupPlan, cleanUp } from './cleanup.ts';
import { type CaptureOptions, install, isTaken, retain, uninstall } from './install.ts';
import { EventLog } from './log.ts';
import { patient } from './patient.ts';
import { PostgresqlEventQueue, type QueueOptions } from './queue.ts';

export interface PostgresqlCaptureOptions extends CaptureOptions, QueueOptions {}

/** Event triggers of a PostgreSQL database. */
export function postgresqlCaptures(database: Source, options: PostgresqlCaptureOptions): Captures {
  const source = patient(database);
  return capturesOf(new EventLog(source), new CleanupPlan(source), {
    events: new PostgresqlEventQueue(database, options),
    install: (triggers, how) => install(source, triggers, how, options),
    retain: (definitions, how) => retain(source, definitions, how),
    uninstall: (owner) => uninstall(source, owner),
    isTaken: (name, owner) => isTaken(source, name, owner),
    backlog: (how) => backlog(database, how),
    cleanUp: (spec, how) => cleanUp(source, spec, how),
  });
}

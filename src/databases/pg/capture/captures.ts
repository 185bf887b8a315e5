import type { Source } from '../../../backend/backend.ts';
import type { Captures } from '../../../backend/captures.ts';
import { capturesOf } from '../../../backend/captures-of.ts';
import { backlog } from './backlog.ts';
import { CleanupPlan, cleanUp } from './cleanup.ts';
import { type CaptureOptions, install, isTaken, retain, uninstall } from './install.ts';
import { EventLog } from './log.ts';
import { patient } from './patient.ts';
import { PgEventQueue, type QueueOptions } from './queue.ts';

export interface PgCaptureOptions extends CaptureOptions, QueueOptions {}

/** Event triggers of a PostgreSQL database. */
export function pgCaptures(database: Source, options: PgCaptureOptions): Captures {
  const source = patient(database);
  return capturesOf(new EventLog(source), new CleanupPlan(source), {
    events: new PgEventQueue(database, options),
    install: (triggers, how) => install(source, triggers, how, options),
    retain: (names, owner, gone) => retain(source, names, owner, gone),
    uninstall: (owner) => uninstall(source, owner),
    isTaken: (name, owner) => isTaken(source, name, owner),
    backlog: (how) => backlog(database, how),
    cleanUp: (spec, how) => cleanUp(source, spec, how),
  });
}

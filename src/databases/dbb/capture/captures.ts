import type { Captures } from '../../../backend/captures.ts';
import { capturesOf } from '../../../backend/captures-of.ts';
import { CleanupPlan, cleanUp } from './cleanup.ts';
import { install, isTaken, retain, uninstall } from './install.ts';
import { EventLog } from './log.ts';
import { DbbEventQueue } from './queue.ts';
import type { BodyOptions } from './triggers.ts';
import { type EventDatabase, patient } from './work.ts';

/** Event triggers of a MariaDB database. */
export function dbbCaptures(source: EventDatabase, options: Pick<BodyOptions, 'stringifyNumericTypes'>): Captures {
  const database = patient(source);
  return capturesOf(new EventLog(database), new CleanupPlan(database), {
    events: new DbbEventQueue(database),
    install: (triggers, how) => install(database, triggers, how, options),
    retain: (names, owner, gone) => retain(database, names, owner, gone),
    uninstall: (owner) => uninstall(database, owner),
    isTaken: (name, owner) => isTaken(database, name, owner),
    cleanUp: (spec, how) => cleanUp(database, spec, how),
  });
}

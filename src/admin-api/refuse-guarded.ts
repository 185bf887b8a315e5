import { SvcError } from '../errors/svc-error.ts';
import type { Prepared } from '../metadata-api/operation.ts';
import type { AdministrationCommand } from '../metadata-api/request.ts';

/** Fails with the message of the first operation that has one, at its path, before any operation runs. */
function refuseOperations(
  command: AdministrationCommand,
  code: 'access-denied' | 'not-supported',
  messageFor: (prepared: Prepared) => string | null,
): void {
  if (command.kind === 'bulk') {
    for (const item of command.items) refuseOperations(item, code, messageFor);
    return;
  }
  const message = messageFor(command.prepared);
  if (message !== null) throw new SvcError(code, message, { path: command.path, ...(code === 'access-denied' && { status: 403 }) });
}

/** Refuses changes of the metadata, and SQL that is not read-only, if the metadata is read-only. @throws SvcError access-denied */
export function refuseGuarded(command: AdministrationCommand): void {
  refuseOperations(command, 'access-denied', ({ isGuarded, type }) =>
    isGuarded ? `the metadata of this service is read-only (--metadata-read-only): "${type}" is refused` : null,
  );
}

/** Refuses administration SQL if it is disabled. @throws SvcError access-denied */
export function refuseSql(command: AdministrationCommand): void {
  refuseOperations(command, 'access-denied', ({ runsSql, type }) =>
    runsSql ? `administration SQL is disabled (--disable-run-sql): "${type}" is refused` : null,
  );
}

/** Refuses previews of new addresses if the metadata is read-only, because the service would call them. @throws SvcError access-denied */
export function refuseAddresses(command: AdministrationCommand): void {
  refuseOperations(command, 'access-denied', ({ bringsAddresses, type }) =>
    bringsAddresses
      ? `the metadata of this service is read-only (--metadata-read-only): "${type}" is not previewed, because the service would call its addresses`
      : null,
  );
}

/** Refuses operations in a preview that do more than change the metadata. @throws SvcError not-supported */
export function refuseEffects(command: AdministrationCommand): void {
  refuseOperations(command, 'not-supported', ({ changes, type }) =>
    changes === 'metadata' ? null : `"${type}" cannot be previewed, because it does more than change the metadata`,
  );
}

/**
 * Batches the edits of a request. Adjacent edits of a bulk become one change of the state; an operation with another effect or an answer
 * settles them first. The state of a request that edits is a draft (`State.transaction`): settled changes are stored and published when the
 * whole request is done, and discarded if it fails. SQL and other effects are not undone.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { ChangeOrigin } from '../metadata-store/metadata-history.ts';
import { mergeRefreshes } from '../state/refresh.ts';
import type { Change, ChangeResult, Warning } from '../state/state.ts';
import { ChangeRefused } from '../state/consistency-check.ts';
import { type Path, ROOT } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import type { EditContext, Prepared, Services } from './operation.ts';
import { toleratedBy } from './tolerated.ts';

interface Pending {
  readonly prepared: Prepared;
  readonly path: Path;
}

export class CommandBatch {
  readonly #services: Services;
  readonly #warnings: Warning[];
  readonly #origin: () => ChangeOrigin;
  #pending: Pending[] = [];

  /** @param warnings collects the warnings of the changes @param origin of changes outside of a transaction */
  constructor(services: Services, { warnings, origin }: { readonly warnings: Warning[]; readonly origin: () => ChangeOrigin }) {
    this.#services = services;
    this.#warnings = warnings;
    this.#origin = origin;
  }

  /** Adds an edit, and settles the others first if they have another rule for inconsistencies. */
  async add(prepared: Prepared, path: Path): Promise<void> {
    const first = this.#pending[0];
    if (prepared.readsDependencies || (first !== undefined && first.prepared.inconsistencies !== prepared.inconsistencies))
      await this.settle();
    const { backends, kinds, state } = this.#services;
    if (prepared.prepareEdit !== undefined)
      await runCooperatively(prepared.prepareEdit({ snapshot: state.current(), backends, kinds, path }));
    this.#pending.push({ prepared, path });
  }

  /** Applies the pending edits. @throws SvcError at the path of the element that failed */
  async settle(): Promise<ChangeResult | undefined> {
    const items = this.#pending;
    const last = items.at(-1);
    if (last === undefined) return undefined;
    this.#pending = [];
    let refusedBy: Pending | undefined;
    try {
      return await this.change({
        edit: (metadata, snapshot) =>
          items.reduce((edited, item) => {
            refusedBy = item;
            const { backends, kinds } = this.#services;
            const context: EditContext = { snapshot, backends, kinds, path: item.path };
            const next = item.prepared.edit?.(edited, context) ?? edited;
            refusedBy = undefined;
            return next;
          }, metadata),
        refresh: mergeRefreshes(items.map((item) => item.prepared.refresh)),
        inconsistencies: last.prepared.inconsistencies,
        edited: items.flatMap((item) => item.prepared.edited),
        clearsEvents: items.some((item) => item.prepared.clearsEvents),
      });
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      if (refusedBy !== undefined) throw errorWithDefaultPath(thrown, refusedBy.path);
      const culprit = findCulprit(items, thrown) ?? last;
      throw errorWithDefaultPath(reworded(thrown, culprit.prepared.othersBroke), culprit.path);
    }
  }

  /** Applies a change separately. */
  async change(change: Change): Promise<ChangeResult> {
    const { state } = this.#services;
    const before = state.current().cache.inconsistencies;
    const changed = await state.change({ ...change, origin: this.#origin });
    this.#warnings.push(...toleratedBy(change, before, changed.inconsistencies));
    return changed;
  }
}

/** Adds the path of the arguments to an error without a path, except for a stale version, which concerns the whole request. */
export function errorWithDefaultPath(error: SvcError, path: Path): SvcError {
  return error.path === ROOT && error.code !== 'conflict' ? error.withPath(path) : error;
}

function reworded(error: SvcError, message: string | undefined): SvcError {
  if (message === undefined || !(error instanceof ChangeRefused && error.brokeOthers)) return error;
  const internal = error.internal === undefined ? {} : { internal: error.internal };
  return new SvcError('unexpected', message, { path: error.path, status: error.status, ...internal });
}

/** Returns the element that edits one of the inconsistent objects. */
function findCulprit(items: readonly Pending[], error: SvcError): Pending | undefined {
  if (!(error instanceof ChangeRefused)) return undefined;
  return items.find((item) => item.prepared.edited.some((id) => error.objects.includes(id)));
}

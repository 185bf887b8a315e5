import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { useResource } from '../../api/use-resource.ts';
import { setQuery } from '../../browser/place.ts';
import { completeSince, historyEntries, type RecordedChange, objectChanges } from '../../model/metadata-history.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { MoreList } from '../../parts/more-list.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { restoreRefusal } from './exchange.tsx';
import { ChangedObject, FoldedDifference } from './object-difference.tsx';

const PAGE = 50;
/** Objects of a change that are shown at first. */
const FIRST_OBJECTS = 20;
/** Operations of a change that the list names. */
const LISTED_OPERATIONS = 3;

/** Changes of the metadata by all administrators: who, when and what. */
export function History() {
  const [opened, setOpened] = useState<RecordedChange | null>(null);
  const version = overview.value?.version;
  const {
    value: newest,
    failure,
    reload,
  } = useResource(
    async (signal) => {
      const json = await readOperation('get_metadata_history', { limit: PAGE }, { signal });
      return { entries: historyEntries(json), since: completeSince(json) };
    },
    `${version}`,
    { keeps: true },
  );
  const value = newest?.entries;
  const since = newest?.since ?? 0;
  const older = useOlder(value);
  const entries = [...(value ?? []), ...older.entries];
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Changes</h2>
      </header>
      <p class="muted">
        The last changes by all administrators and instances. They contain the secrets that are, or were, stored in the metadata.
      </p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the history" />}
      {value?.length === 0 && <EmptyState icon="history" title="No changes yet" />}
      {entries.length > 0 && (
        <ListTable name="Changes of the metadata" columns={['Version', 'Time', 'Author', 'Operations', 'Objects', ACTIONS]}>
          {entries.map((entry, index) => (
            <Fragment key={entry.version}>
              {entry.version < since && (entries[index - 1]?.version ?? since) >= since && <Gap since={since} />}
              <Entry entry={entry} isCurrent={entry.version === version} isLost={entry.version < since} onOpen={() => setOpened(entry)} />
            </Fragment>
          ))}
        </ListTable>
      )}
      {older.failure !== undefined && <ErrorBox error={shownError(older.failure)} />}
      {older.mayHaveMore && (
        <div>
          <Button refusal={older.isBusy ? 'Reading …' : undefined} onClick={() => void older.read()}>
            Show older changes
          </Button>
        </div>
      )}
      {opened !== null && <ChangeDialog entry={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}

/** Pages of older changes. They stay when newer changes arrive, which move the first page. */
function useOlder(newest: readonly RecordedChange[] | undefined) {
  const [read, setRead] = useState<readonly RecordedChange[]>([]);
  const [isComplete, setComplete] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const oldest = newest?.at(-1)?.version ?? 0;
  const entries = read.filter(({ version }) => version < oldest);
  return {
    entries,
    failure,
    isBusy,
    mayHaveMore: !isComplete && (newest?.length ?? 0) === PAGE,
    async read(): Promise<void> {
      setBusy(true);
      setFailure(undefined);
      try {
        const before = entries.at(-1)?.version ?? oldest;
        const page = historyEntries(await readOperation('get_metadata_history', { limit: PAGE, before }));
        setRead([...entries, ...page]);
        setComplete(page.length < PAGE);
      } catch (error) {
        setFailure(failureOf(error));
      } finally {
        setBusy(false);
      }
    },
  };
}

/** Row before the first change that cannot be restored. */
function Gap({ since }: { readonly since: number }) {
  return (
    <tr>
      <td colSpan={6} class="muted">
        Versions before v{since} cannot be restored: changes or their objects are missing.
      </td>
    </tr>
  );
}

function Entry({
  entry,
  isCurrent,
  isLost,
  onOpen,
}: {
  readonly entry: RecordedChange;
  readonly isCurrent: boolean;
  /** True if changes since the version are missing. */
  readonly isLost: boolean;
  onOpen(): void;
}) {
  const { version, at, author, operations, objectCount, hasObjects, objects } = entry;
  const more = operations.length - LISTED_OPERATIONS;
  const moreObjects = objectCount - objects.length;
  return (
    <tr>
      <td class="number nowrap">
        v{version} {isCurrent && <span class="badge">current</span>}
      </td>
      <td class="nowrap" title={at}>
        {new Date(at).toLocaleString()}
      </td>
      <td class="break">{author}</td>
      <td class="break">
        {operations.slice(0, LISTED_OPERATIONS).join(', ')}
        {more > 0 && ` and ${more} more`}
      </td>
      <td class="break">
        {objects.map(({ kind, label }) => (
          <div key={label}>
            <ChangedObject kind={kind} label={label} />
          </div>
        ))}
        {moreObjects > 0 && (
          <span class="muted">
            {objects.length > 0 ? 'and ' : ''}
            {moreObjects} {objects.length > 0 ? 'more' : 'objects'}
          </span>
        )}
      </td>
      <td class="nowrap">
        <Button
          small
          title="get_metadata_change"
          name={`Show version ${version}`}
          refusal={hasObjects ? undefined : 'The objects of this change are not kept'}
          onClick={onOpen}
        >
          Show
        </Button>{' '}
        <Button
          small
          title="get_metadata_version"
          name={`Restore version ${version}`}
          refusal={
            isCurrent ? 'This is the current version' : isLost ? 'Changes since this version are missing in the history' : restoreRefusal()
          }
          onClick={() => setQuery({ tab: 'exchange', version: String(version) })}
        >
          Restore …
        </Button>
      </td>
    </tr>
  );
}

/** Difference of each object that a change has changed. */
function ChangeDialog({ entry: { version, at, author, operations }, onClose }: { readonly entry: RecordedChange; onClose(): void }) {
  const { value, failure, reload } = useResource(
    async (signal) => objectChanges(await readOperation('get_metadata_change', { resource_version: version }, { signal })),
    `${version}`,
  );
  return (
    <Dialog title={`Version ${version}`} kind="wide" onClose={onClose}>
      <p class="muted">
        {new Date(at).toLocaleString()}, {author}
        {operations.length > 0 && `: ${operations.join(', ')}`}
      </p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the change" />}
      {value !== undefined && (
        <MoreList
          items={value}
          first={FIRST_OBJECTS}
          what="objects"
          item={({ kind, label, before, after }) => (
            <div key={label}>
              <ChangedObject kind={kind} label={label} />
              <FoldedDifference label={label} {...(before === undefined ? {} : { before })} {...(after === undefined ? {} : { after })} />
            </div>
          )}
        />
      )}
    </Dialog>
  );
}

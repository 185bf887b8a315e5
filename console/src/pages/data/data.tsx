import { overview, overviewFailure, refreshOverview } from '../../api/overview.ts';
import { tableTree } from '../../browser/layout.ts';
import { hrefOf, place } from '../../browser/place.ts';
import { findTable } from '../../model/overview.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Splitter } from '../../parts/splitter.tsx';
import { AddSource } from './add-source.tsx';
import { DataTree } from './data-tree.tsx';
import { SourcePage } from './source-page.tsx';
import { TablePage } from './table-page.tsx';
import { UntrackedTable } from './table-state.tsx';

/** Sources and tables on the left, the selected one on the right. */
export function Data() {
  const data = overview.value;
  const [, sourceName, id] = place.value.path;
  if (data === undefined) {
    return (
      <div class="page">
        {overviewFailure.value === undefined ? (
          <Loading what="the sources" />
        ) : (
          <ErrorBox error={shownError(overviewFailure.value)} onRetry={() => void refreshOverview()} />
        )}
      </div>
    );
  }
  const source = data.sources.find(({ name }) => name === (sourceName ?? data.sources[0]?.name));
  const table = source === undefined || id === undefined ? undefined : findTable(data, source.name, id);
  const { width, isFolded } = tableTree.state.value;
  const isNew = data.sources.length === 0 || sourceName === '+';
  return (
    <div class={`split${isFolded ? ' is-side-folded' : ''}`} style={{ '--side': `${isFolded ? 0 : width}rem` }}>
      <DataTree data={data} source={source?.name} id={id} />
      <Splitter name="Width of the tables" controls="tables" sidebar={tableTree} />
      <div class="content">
        {isNew ? (
          <AddSource />
        ) : source === undefined ? (
          <EmptyState
            icon="data"
            title="Source not found"
            actions={
              <a class="button" href={hrefOf(['data'])}>
                All sources
              </a>
            }
          />
        ) : id === undefined ? (
          <SourcePage key={source.name} data={data} source={source} />
        ) : table === undefined ? (
          <UntrackedTable source={source} id={id} version={data.version} />
        ) : (
          <TablePage key={`${source.name} ${id}`} data={data} table={table} />
        )}
      </div>
    </div>
  );
}

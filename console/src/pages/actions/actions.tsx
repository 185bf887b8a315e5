import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { go, hrefOf, place } from '../../browser/place.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { ActionList } from './action-list.tsx';
import { ActionPage } from './action-page.tsx';
import { NewAction } from './new-action.tsx';
import { readActions } from './read-actions.ts';
import { Types } from './types.tsx';

/** Actions and their types. */
export function Actions() {
  const [, name] = place.value.path;
  const tab = place.value.query.get('tab') ?? 'actions';
  const { value, failure, isLoading, reload, stop } = useResource(readActions, `${overview.value?.version}`, { keeps: true });
  const problem = failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />;
  const loading = value === undefined && isLoading && <Loading what="the actions" onStop={stop} />;
  const found = value?.actions.find((each) => each['name'] === name);
  if (name === '+') return value === undefined ? <div class="page">{problem || loading}</div> : <NewAction all={value} />;
  if (name !== undefined) {
    if (value !== undefined && found !== undefined) return <ActionPage key={name} all={value} action={found} />;
    return (
      <div class="page">
        {problem}
        {isLoading ? (
          <Loading what={name} onStop={stop} />
        ) : value === undefined ? null : (
          <EmptyState
            icon="actions"
            title={`Action ${name} not found`}
            actions={
              <a class="button" href={hrefOf(['actions'])}>
                All actions
              </a>
            }
          />
        )}
      </div>
    );
  }
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => go(['actions', '+'])}>
      New action
    </Button>
  );
  return (
    <div class="page">
      <header>
        <h1>Actions</h1>
        <span class="end" />
        {value !== undefined && value.actions.length > 0 && add}
      </header>
      <Tabs
        name="Actions and types"
        tabs={[
          { id: 'actions', label: 'Actions' },
          { id: 'types', label: 'Types' },
        ]}
        chosen={tab}
        onChoose={(id) => go(['actions'], id === 'actions' ? {} : { tab: id })}
      />
      <div {...tabPanel(tab)} class="stack">
        {problem}
        {loading}
        {value !== undefined && (tab === 'types' ? <Types all={value} /> : <ActionList all={value} add={add} />)}
      </div>
    </div>
  );
}

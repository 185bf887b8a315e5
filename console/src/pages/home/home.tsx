import { useState } from 'preact/hooks';
import { makeChange, sessionChanges } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { overview, overviewFailure, refreshOverview } from '../../api/overview.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';
import { Card } from './card.tsx';
import { Checklist } from './checklist.tsx';
import { EndpointCard } from './endpoint-card.tsx';
import { EventCard } from './event-card.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Inconsistencies } from './inconsistencies.tsx';
import { NextSteps } from './next-steps.tsx';
import { OperationsCard } from './operations-card.tsx';
import { SourcesCard } from './sources-card.tsx';

/** State of the service, and the next things to set up. */
export function Home() {
  const data = overview.value;
  return (
    <div class="page">
      <header>
        <h1>Home</h1>
        <span class="end" />
        <ReloadButton />
      </header>
      {data === undefined && overviewFailure.value !== undefined && (
        <ErrorBox error={shownError(overviewFailure.value)} onRetry={() => void refreshOverview()} />
      )}
      {data === undefined && overviewFailure.value === undefined && <Loading what="the overview" />}
      {data !== undefined && (
        <>
          <FirstSteps data={data} />
          <div class="cards">
            <EndpointCard data={data} />
            <SourcesCard data={data} />
            {data.inconsistent > 0 && <Inconsistencies data={data} />}
            {data.triggers.length > 0 && <EventCard version={data.version} />}
            <OperationsCard />
            <NextSteps data={data} />
            <Checklist />
            {sessionChanges.value.length > 0 && <LastChanges />}
          </div>
        </>
      )}
    </div>
  );
}

function ReloadButton() {
  const [isBusy, setBusy] = useState(false);
  const reload = async (): Promise<void> => {
    setBusy(true);
    try {
      await makeChange({
        title: 'Reload metadata',
        steps: () => [{ type: 'reload_metadata', args: { reload_sources: true, reload_remote_schemas: true } }],
      });
    } catch (error) {
      showToast(failureOf(error).message, { isError: true });
    }
    setBusy(false);
  };
  return (
    <Button
      icon="reload"
      title="reload_metadata: reads databases and remote schemas again"
      refusal={isBusy ? 'Reloading …' : undefined}
      onClick={() => void reload()}
    >
      Reload metadata
    </Button>
  );
}

function LastChanges() {
  return (
    <Card icon="history" title="Recent changes in this session">
      <ul class="stack-tight">
        {sessionChanges.value
          .slice(-6)
          .toReversed()
          .map(({ title, at, version }) => (
            <li key={at.getTime()} class="row-tight">
              <span class="muted number">{at.toLocaleTimeString()}</span>
              <span class="grow ellipsis">{title}</span>
              <span class="muted">v{version}</span>
            </li>
          ))}
      </ul>
    </Card>
  );
}
